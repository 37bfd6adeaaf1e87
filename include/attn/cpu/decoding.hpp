#pragma once
#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/linear.hpp"
#include "attn/ops/decoding.hpp"

namespace attn {

namespace cpu {

/// Argmax over outputs of int8 weights, without storing the outputs. Each thread takes some panels, in order, so ties go to
/// the first output.
inline void largest_int8(Cpu<float>& device, const LinearArgmaxArgs<Cpu<float>>& args, const Int8Weights<>& weights) {
  using Rows = Int8Rows<Int8Lanes>;
  using Largest = Int8Weights<>::Largest;
  constexpr Index kPanel = Int8Weights<>::kColumns;
  const Index rows = args.x.rows, depth = args.x.cols, classes = args.weight.rows;
  const Index panels = (classes + kPanel - 1) / kPanel, parts = std::clamp<Index>(panels, 1, device.threads());
  const auto space = static_cast<Index>(align_up(static_cast<std::size_t>(parts * rows) * sizeof(Largest)));
  float* const memory = device.results((space + Rows::bytes(rows, depth) + 3) / 4);
  auto* const largest = reinterpret_cast<Largest*>(memory);
  std::uninitialized_default_construct_n(largest, parts * rows);
  const Rows x(memory + space / 4, rows, depth);
  quantise_rows(device, args.x, x);
  device.parallel(parts, [&](Index part, int) {
    const Index left = panels * part / parts * kPanel, right = std::min(classes, panels * (part + 1) / parts * kPanel);
    weights.find_largest(x, 0, rows, left, right - left, args.bias, args.except, largest + part * rows);
  });
  for (Index i = 0; i < rows; ++i) {
    const Largest* best = largest + i;
    for (Index part = 1; part < parts; ++part)
      if (const Largest& other = largest[part * rows + i]; other.value > best->value) best = &other;
    const Index first = args.except == 0 && classes > 1 ? 1 : 0;  // if nothing exceeds -infinity
    args.best[i] = static_cast<Token>(best->first < 0 ? first : best->at());
  }
}

/// Writes the maximum of each `block` numbers of a row, and returns that of all. Ignores NaN.
template <class T>
T largest_of_blocks(const T* row, Index count, Index block, T* largest) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size;
  T most = -std::numeric_limits<T>::infinity();
  for (Index first = 0; first < count; first += block, ++largest) {
    const Index end = std::min(count, first + block);
    Packet found = pset1<Packet>(-std::numeric_limits<T>::infinity());
    Index j = first;
    for (; j + kLanes <= end; j += kLanes) {
      const Packet some = ploadu<Packet>(row + j);
      found = pselect(pcmp_lt(found, some), some, found);
    }
    *largest = predux_max(found);
    for (; j < end; ++j) *largest = row[j] > *largest ? row[j] : *largest;
    most = std::max(most, *largest);
  }
  return most;
}

/// The step of one sentence.
template <class T>
void step_of_beam(const BeamStepArgs<Cpu<T>>& args, Index sentence) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  struct Row {
    double total = kNone;
    Token token = 0;
    Index continues = 0;
  };
  const Index beam = args.beam, k = args.best.cols, first = sentence * beam;
  Row rows[max_graph_beam + 1];  // the best so far, and one to drop
  Index count = 0;
  for (Index i = first; i < first + beam; ++i)
    for (Index j = 0; j < k; ++j) {
      const Token token = args.best(i, j);
      const T log_probability = args.log_probabilities(i, j);
      const Index at = (args.step[sentence] * args.best.rows + i) * k + j;
      args.logged[at] = token;
      args.logged_probabilities[at] = log_probability;
      if (!(args.totals[i] > kNone) || token < 0 || !(log_probability > T(kNone)) || token == args.end) continue;
      const Row candidate{args.totals[i] + double{log_probability}, token, i};
      Index place = count;  // after equal candidates
      for (; place > 0 && rows[place - 1].total < candidate.total; --place) rows[place] = rows[place - 1];
      rows[place] = candidate;
      count = std::min(count + 1, beam);
    }
  for (Index r = count; r < beam; ++r) rows[r] = {kNone, 0, first + r};

  const Index filled = args.ends[first] - first * args.table.cols;
  std::int32_t column[max_graph_beam];
  for (Index t = 0; t < filled; ++t) {
    for (Index r = 0; r < beam; ++r) column[r] = args.table(rows[r].continues, t);
    for (Index r = 0; r < beam; ++r) args.table(first + r, t) = column[r];
  }
  for (Index r = 0; r < beam; ++r) {
    const Index i = first + r;
    args.tokens[i] = rows[r].token;
    args.totals[i] = rows[r].total;
    ++args.newest[i], ++args.ends[i], ++args.positions[i];
    if (filled < args.table.cols) args.table(i, filled) = args.newest[i];
  }
  ++args.step[sentence];
}

}  // namespace cpu

template <class T>
void argmax(Cpu<T>& device, const ArgmaxArgs<Cpu<T>>& args) {
  constexpr Index kBlock = 512;
  device.parallel_ranges(args.logits.rows, 1, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) {
      const T* row = args.logits.row(i);
      const auto best = [&](Index from, Index to) {  // finds its block with vector instructions, then its place
        Index block = from;
        T most = cpu::largest(row + from, std::min(kBlock, to - from));
        for (Index next = from + kBlock; next < to; next += kBlock) {
          const T here = cpu::largest(row + next, std::min(kBlock, to - next));
          if (here > most) most = here, block = next;
        }
        const T* end = row + std::min(to, block + kBlock);
        const T* place = std::find(row + block, end, most);
        return place < end ? place - row : 0;  // not found: the row holds NaN
      };
      const Index cols = args.logits.cols, hole = args.except;
      if (hole < 0 || hole >= cols || cols == 1) {  // a single class cannot be excluded
        args.best[i] = static_cast<Token>(best(0, cols));
      } else {
        const Index left = hole > 0 ? best(0, hole) : best(1, cols), right = hole + 1 < cols ? best(hole + 1, cols) : left;
        args.best[i] = static_cast<Token>(row[right] > row[left] ? right : left);
      }
    }
  });
}

template <class T>
void linear_argmax(Cpu<T>& device, const LinearArgmaxArgs<Cpu<T>>& args) {
  if constexpr (std::is_same_v<T, float>)
    if (device.options().int8_weights)
      if (const auto* packed = device.weights().template find<cpu::Int8Weights<>>(args.weight); packed != nullptr)
        return cpu::largest_int8(device, args, *packed);
  linear(device, {.x = args.x, .weight = args.weight, .bias = args.bias, .y = args.logits});
  argmax(device, {.logits = args.logits, .best = args.best, .except = args.except});
}

template <class T>
void top_k(Cpu<T>& device, const TopKArgs<Cpu<T>>& args) {
  using Choice = std::pair<T, Token>;
  constexpr Index kBlock = 64;  // most blocks hold no candidate
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  const Index classes = args.logits.cols, k = args.best.cols;
  const Token *except = args.except, *excepts_end = except + args.excepted;
  device.parallel_ranges(args.logits.rows, 1, [&](Index first, Index last, int thread) {
    // `choices` is a heap whose front is the worst choice so far.
    const auto better = [](const Choice& a, const Choice& b) {
      return a.first > b.first || (a.first == b.first && a.second < b.second);
    };
    T* const space = device.workspace(thread, classes + (classes + kBlock - 1) / kBlock, 1);
    T* const largest = space + classes;  // of each block
    std::vector<Choice> choices;
    for (Index i = first; i < last; ++i) {
      const T* row = args.logits.row(i);
      const T* summed = row;
      if (args.renormalize) {
        T* copy = device.workspace(thread, classes, 0);
        std::copy_n(row, classes, copy);
        for (Index e = 0; e < args.excepted; ++e)
          if (except[e] >= 0 && except[e] < classes) copy[except[e]] = kNothing;
        summed = copy;
      }
      const T most = cpu::largest_of_blocks(summed, classes, kBlock, largest);
      const T log_sum = std::log(cpu::exponentials(summed, classes, most, space));
      choices.clear();
      if (args.only != nullptr && args.only[i] >= 0) {
        choices.emplace_back(row[args.only[i]], args.only[i]);
      } else {
        for (Index block = 0; block < classes && k > 0; block += kBlock) {
          const Index end = std::min(classes, block + kBlock);
          if (static_cast<Index>(choices.size()) == k && !(largest[block / kBlock] > choices.front().first)) continue;
          for (Index j = block; j < end; ++j) {
            const Choice choice{row[j], static_cast<Token>(j)};
            const bool room = static_cast<Index>(choices.size()) < k;
            if (std::isnan(choice.first) || !(room || choice.first > choices.front().first)) continue;
            if (std::find(except, excepts_end, choice.second) != excepts_end) continue;
            if (!room) std::pop_heap(choices.begin(), choices.end(), better), choices.pop_back();
            choices.push_back(choice);
            std::push_heap(choices.begin(), choices.end(), better);
          }
        }
        std::sort_heap(choices.begin(), choices.end(), better);
      }
      for (Index j = 0; j < k; ++j) {
        const bool found = j < static_cast<Index>(choices.size());
        const Choice choice = found ? choices[static_cast<std::size_t>(j)] : Choice{kNothing, -1};
        args.best(i, j) = choice.second;
        args.log_probabilities(i, j) = choice.first == kNothing ? kNothing : choice.first - most - log_sum;
      }
    }
  });
}

template <class T>
void greedy_step(Cpu<T>&, const GreedyStepArgs<Cpu<T>>& args) {
  Token* const written = args.written + Index{*args.step} * args.rows;
  std::int32_t remaining = 0;
  for (Index i = 0; i < args.rows; ++i) {
    args.tokens[i] = args.best[i];
    if (args.ended[i] == 0) written[i] = args.best[i];
    if (args.best[i] == args.end) args.ended[i] = 1;
    remaining += 1 - args.ended[i];
  }
  for (Index i = 0; i < args.counter_count; ++i) ++args.counters[i];
  args.remaining[*args.step] = remaining;
  ++*args.step;
}

template <class T>
void beam_step(Cpu<T>& device, const BeamStepArgs<Cpu<T>>& args) {
  check_beam_step(args);
  device.parallel(args.best.rows / args.beam, [&](Index sentence, int) { cpu::step_of_beam(args, sentence); });
}

}  // namespace attn
