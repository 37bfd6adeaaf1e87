#pragma once
#include "attn/cuda/input_feeding/kernels.cuh"

namespace attn {
namespace kernels {

/// A walk, the weights it packs, and its launch configuration.
template <class T>
struct FeedingPlan {
  FeedingWalk<T> walk;
  FeedingSources<T> sources;
  int count = 0, groups = 0, weights_begin = 0;
  Spread spread;

  FeedingMatrix<T> add(Matrix<const T> first, Matrix<const T> second, bool transposed, Index all, int sets) {
    const int units = static_cast<int>(divide_up(divide_up(all, walk.blocks), 8) * 8);
    FeedingMatrix<T> to{.sets = sets, .units = units};
    to.terms[0] = static_cast<int>(transposed ? first.rows : first.cols);
    to.terms[1] = static_cast<int>(transposed ? 0 : second.cols);
    walk.columns = std::max(walk.columns, sets * std::min(units, kFeedingUnits));
    sources.source[count++] = {first, second, transposed, static_cast<int>(all), to};
    return to;
  }
};

template <class T>
FeedingPlan<T> plan_feeding(const InputFeedingArgs<Cuda<T>>& args, bool transposed, int blocks, std::size_t most_shared) {
  FeedingPlan<T> plan;
  FeedingWalk<T>& walk = plan.walk;
  const Index width = args.width();
  const Matrix<const T> of_state = args.mix.columns(0, width), of_context = args.mix.columns(width, args.context());
  walk.blocks = blocks;
  walk.source_longest = static_cast<int>(args.source.longest);
  walk.mix = plan.add(of_state, of_context, transposed, width, 1);
  if (transposed) walk.context = plan.add(of_context, {}, true, args.context(), 1);
  for (int l = 0; l < args.layers; ++l)
    walk.gates[l] = plan.add(args.layer[l].input, args.layer[l].recurrent, transposed, width, transposed ? 2 : 4);

  int chunks = 0;
  for (int i = 0; i < plan.count; ++i) chunks = std::max(chunks, plan.sources.source[i].to.chunks());
  const int sums = std::min(chunks, kFeedingParts) * kFeedingSentences * walk.sums_stride();
  const int attention =
      feeding_attention_numbers<T>(static_cast<int>(width), static_cast<int>(args.values.cols), walk.source_longest);
  const int lists = 5 * kFeedingSentences * 4;  // bytes of a block's lists of sentences
  plan.weights_begin = static_cast<int>(divide_up(lists + 4 * std::max(sums, attention), 16) * 16);
  require(static_cast<std::size_t>(plan.weights_begin) <= most_shared, "input_feeding: a source of ", args.source.longest,
          " positions exceeds shared memory. Truncate sentences (--truncate)");
  std::size_t used = static_cast<std::size_t>(plan.weights_begin);
  const auto keep = [&](FeedingMatrix<T>& matrix) {
    const std::size_t bytes = static_cast<std::size_t>(matrix.size()) * sizeof(T);
    if (matrix.sets == 0 || used + bytes > most_shared) return;
    matrix.place = static_cast<int>((used - static_cast<std::size_t>(plan.weights_begin)) / sizeof(T));
    used += bytes;
  };
  keep(walk.mix);
  keep(walk.context);
  for (int l = 0; l < args.layers; ++l) keep(walk.gates[l]);
  plan.groups = static_cast<int>(divide_up(args.rows.count, kFeedingSentences));
  plan.spread = {{static_cast<unsigned>(plan.groups * blocks)}, kFeedingThreads, used};
  return plan;
}

/// Allocates the packed weights and the state that the walk keeps from step to step.
template <class T>
void place_feeding(Cuda<T>& device, const InputFeedingArgs<Cuda<T>>& args, FeedingPlan<T>& plan) {
  FeedingWalk<T>& walk = plan.walk;
  Index weights = 0;
  const Index row = plan.groups * kFeedingSentences * args.width(), states = row * args.layers;
  for (int i = 0; i < plan.count; ++i) weights += Index{walk.blocks} * plan.sources.source[i].to.size();
  auto* memory = device.template workspace<std::byte>(weights * Index{sizeof(T)} + 4 * (2 * states + row));
  T* next = reinterpret_cast<T*>(memory);
  int at = 0;
  const auto take = [&](FeedingMatrix<T>& matrix) {
    matrix.packed = plan.sources.source[at++].to.packed = next;
    next += Index{walk.blocks} * matrix.size();
  };
  take(walk.mix);
  if (walk.context.sets > 0) take(walk.context);
  for (int l = 0; l < args.layers; ++l) take(walk.gates[l]);
  walk.cells = reinterpret_cast<float*>(next);
  walk.states = walk.cells + states;
  walk.queries = walk.states + states;
}

template <class T>
bool feeding_in_packs(const InputFeedingArgs<Cuda<T>>& args) {
  const Index width = args.width();
  bool packs =
      in_packs(args.keys, args.values, args.fed, args.seen.columns(0, width), args.seen.columns(width, args.context()));
  for (int l = 0; l < args.layers; ++l)
    packs = packs && in_packs(args.layer[l].gates, args.layer[l].below, args.layer[l].before);
  return packs;
}

/// Packs the weights and runs the walk with the fastest cluster size. More blocks per cluster leave fewer units to each
/// block, but every step also has a fixed cost, about that of 8 units.
template <class T, class Args>
void run_feeding(Cuda<T>& device, const char* what, const InputFeedingArgs<Cuda<T>>& args, bool transposed,
                 void (*kernel)(Args, FeedingWalk<T>, int), const Args& all) {
  if (args.rows.rows == 0) return;
  const std::size_t most = device.properties().sharedMemPerBlockOptin;
  FeedingPlan<T> best = plan_feeding(args, transposed, 1, most);
  Index least = std::numeric_limits<Index>::max();
  for (int blocks = 1; blocks <= 16 && (blocks == 1 || device.has_clusters()); blocks *= 2) {
    const FeedingPlan<T> one = plan_feeding(args, transposed, blocks, most);
    const int units = one.walk.mix.units;
    if (blocks > 1 && units * (blocks / 2) >= args.width()) break;  // half of the blocks would be idle
    const int at_once = blocks == 1 ? device.multiprocessors()
                                    : clusters_at_once(device, what, one.spread, static_cast<unsigned>(blocks), kernel);
    if (at_once == 0) continue;
    const Index cost = divide_up(one.groups, at_once) * (8 + units);
    if (cost < least) best = one, least = cost;
  }
  place_feeding(device, args, best);
  Index pieces = 0;
  for (int i = 0; i < best.count; ++i)
    pieces = std::max(pieces, Index{best.walk.blocks} * best.sources.source[i].to.size() / 8);
  launch(device, "packing weights",
         {{static_cast<unsigned>(divide_up(pieces, 256)), static_cast<unsigned>(best.count)}, 256}, pack_feeding_weights<T>,
         best.sources, best.walk.blocks);
  launch_in_clusters(device, what, best.spread, dim3(static_cast<unsigned>(best.walk.blocks)), kernel, all, best.walk,
                     best.weights_begin);
}

}  // namespace kernels

template <class T>
void input_feeding(Cuda<T>& device, const InputFeedingArgs<Cuda<T>>& args) {
  constexpr int N = Pack<T>::size;
  kernels::run_feeding(
      device, "input_feeding", args, false,
      kernels::feeding_in_packs(args) ? kernels::input_feeding_forward<T, N> : kernels::input_feeding_forward<T, 1>, args);
}

template <class T>
void input_feeding_gradient(Cuda<T>& device, const InputFeedingGradientArgs<Cuda<T>>& args) {
  constexpr int N = Pack<T>::size;
  const bool packs = kernels::feeding_in_packs(args.forward) && in_packs(args.dcontext, args.dmix);
  kernels::run_feeding(device, "input_feeding_gradient", args.forward, true,
                       packs ? kernels::input_feeding_backward<T, N> : kernels::input_feeding_backward<T, 1>, args);
}

}  // namespace attn
