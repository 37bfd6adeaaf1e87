#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "attn/core/random.hpp"
#include "attn/cuda/matmul/product.cuh"

namespace attn {
namespace kernels {

/// An operand of a product of `terms` terms, whose rows lie `stride` apart and whose terms lie below (else beside) one another:
/// numbers of many sizes. The terms come in threes, with one factor from the operand that does not cancel, and x, y and -(x + y)
/// from the one that does: the exact product is 0, and what is computed are only the errors of summing. Terms left over are 0;
/// where there are fewer than six, each number is drawn for itself.
template <class T>
__global__ void fill_trial(T* numbers, Index count, Index stride, Index terms, bool below, bool cancels, RandomKey key) {
  const Index third = terms < 6 ? 0 : terms / 3;
  for (Index i = blockIdx.x * Index{blockDim.x} + threadIdx.x; i < count; i += Index{gridDim.x} * blockDim.x) {
    const Index row = i / stride, col = i % stride;
    const Index term = below ? row % terms : col, line = below ? row / terms * stride + col : row;
    const bool alone = term >= 3 * third;
    const std::uint32_t bits = random_bits(key, static_cast<std::uint32_t>(alone ? i : line * third + term % third));
    const int x = static_cast<int>(bits % 128) - 64, y = static_cast<int>(bits / 128 % 128) - 64;
    const int power = -7 - static_cast<int>(bits >> 28);
    float number = static_cast<float>(static_cast<std::int32_t>(bits << 4)) * 0x1p-24f;  // as many bits as there are
    if (alone && third > 0)
      number = 0;
    else if (!alone && cancels)
      number = static_cast<float>(term < third ? x : term < 2 * third ? y : -(x + y));
    numbers[i] = from_float<T>(ldexpf(number, power));
  }
}

/// A number that tells two results apart when a bit differs. Whole numbers add up the same in any order.
template <class T>
__global__ void digest(const T* numbers, Index count, unsigned long long* sum) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
  unsigned long long mine = threadIdx.x + blockIdx.x == 0 ? 1 : 0;  // never nothing
  for (Index i = blockIdx.x * Index{blockDim.x} + threadIdx.x; i < count; i += Index{gridDim.x} * blockDim.x) {
    const std::uint32_t bits = reinterpret_cast<const Bits*>(numbers)[i];
    mine += random_bits({bits, 0x9e3779b9U}, static_cast<std::uint32_t>(i));
  }
  atomicAdd(sum, mine);
}

}  // namespace kernels

namespace gemm_detail {

/// What cuBLASLt proposes for a product of operands that lie so, its favourite first. Partial sums, where it makes some, lie in memory
/// of their own and are added in order; they are not added in place in whatever order they are done.
template <class T, class In, class Out>
std::vector<cublasLtMatmulHeuristicResult_t> proposals(Cuda<T>& device, const GemmArgs<In, Out>& args) {
  Description<In, Out> description(args, device.options().tf32);
  cublasLtMatmulPreferenceOpaque_t preference;
  check(cublasLtMatmulPreferenceInit(&preference), "product");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof(value)), "product");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{Plans::kWorkspace});
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(alignment(args.b)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(alignment(args.a)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(alignment(args.c)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(alignment(args.c)));
  constexpr int kProposals = 16;
  std::vector<cublasLtMatmulHeuristicResult_t> all(kProposals);
  int found = 0;
  check(
      cublasLtMatmulAlgoGetHeuristic(device.cublas(), &description.operation, &description.first, &description.second,
                                     &description.result, &description.result, &preference, kProposals, all.data(), &found),
      "asking for algorithms");
  require(found > 0, "cuBLASLt knows no way to multiply ", args.c.rows, " x ", args.c.cols, " with rows ", args.a.stride,
          ", ", args.b.stride, " and ", args.c.stride, " apart");
  all.resize(static_cast<std::size_t>(found));
  return all;
}

/// Times products, in ms of kRepeats of them.
class Stopwatch {
 public:
  static constexpr int kRepeats = 4;

  Stopwatch() {
    check(cudaEventCreate(&start_), "timing products");
    check(cudaEventCreate(&end_), "timing products");
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(end_);
  }

  /// The shortest of three times.
  template <class T, class In, class Out>
  float operator()(Cuda<T>& device, const GemmArgs<In, Out>& args, Description<In, Out>& description,
                   const cublasLtMatmulAlgo_t& algorithm) {
    float time = std::numeric_limits<float>::infinity();
    for (int trial = 0; trial < 3; ++trial) {
      float once = 0;
      check(cudaEventRecord(start_, device.stream()), "timing products");
      for (int repeat = 0; repeat < kRepeats; ++repeat) (void)run(device, args, description, algorithm);
      check(cudaEventRecord(end_, device.stream()), "timing products");
      check(cudaEventSynchronize(end_), "timing products");
      check(cudaEventElapsedTime(&once, start_, end_), "timing products");
      time = std::min(time, once);
    }
    return time;
  }

 private:
  cudaEvent_t start_, end_;
};

/// Chooses the algorithm for a product: cuBLASLt's first proposal, or a later one that is clearly faster and rounds where the first
/// does, so that timing, which varies, does not change results. Whether it does is seen from trial products of the most and of the
/// fewest rows that the plan is for: of terms that cancel, which show in which order they are summed, and of terms that do not, with a
/// bias, which show where a result is rounded. `round`: for all rows that round alike, so that the choice does not depend on which
/// batch came first.
template <class T, class In, class Out>
cublasLtMatmulAlgo_t choose(Cuda<T>& device, GemmArgs<In, Out> args, bool round) {
  const Index most = round ? Plans::rounded(changing_rows(args)) : changing_rows(args);
  const Index fewest = round ? Plans::fewest(most) : most;
  set_changing_rows(args, most);
  // Operands of its own: the product may add to what must not be added to twice.
  Buffer<Out, CudaMemory> bias(device, args.c.cols, "trial products");
  if (args.bias != nullptr) args.bias = bias.data();
  const std::vector<cublasLtMatmulHeuristicResult_t> proposed = proposals(device, args);
  const auto room = [&](auto matrix, Index step) { return matrix.rows * matrix.stride + (args.repeat.count - 1) * step; };
  Buffer<In, CudaMemory> a(device, room(args.a, args.repeat.a), "trial products");
  Buffer<In, CudaMemory> b(device, room(args.b, args.repeat.b), "trial products");
  Buffer<Out, CudaMemory> c(device, room(args.c, args.repeat.c), "trial products");
  Buffer<unsigned long long, CudaMemory> sum(device, 1);
  args.a.data = a.data();
  args.b.data = b.data();
  args.c.data = c.data();
  args.add = false;

  // What every proposal makes of the fewest and of the most rows; 0 where it refuses.
  std::vector<std::vector<unsigned long long>> results(proposed.size());
  const Spread wide{{static_cast<unsigned>(4 * device.multiprocessors())}, 256};
  const auto fill = [&](auto& numbers, Index stride, Index terms, bool below, bool cancels, RandomKey key) {
    launch(device, "trial operands", wide, kernels::fill_trial<std::remove_pointer_t<decltype(numbers.data())>>,
           numbers.data(), numbers.size(), stride, terms, below, cancels, key);
  };
  const std::uint32_t operands = c.size() < (1 << 14) ? 4 : 1;  // few numbers tell less
  for (std::uint32_t i = 0; i < 4 * operands; ++i) {
    const bool cancels = i % 2 == 0;
    set_changing_rows(args, i < 2 * operands ? fewest : most);
    const Index terms = !cancels ? 1 : args.a_transposed ? args.a.rows : args.a.cols;  // 1: each number for itself
    fill(a, args.a.stride, terms, args.a_transposed, false, RandomKey{1, i});
    fill(b, args.b.stride, terms, !args.b_transposed, cancels, RandomKey{2, i});
    device.zero(bias.data(), bias.size());
    if (!cancels) fill(bias, bias.size(), 1, false, false, RandomKey{3, i});
    Description<In, Out> trial(args, device.options().tf32);
    for (std::size_t proposal = 0; proposal < results.size(); ++proposal) {
      const cublasLtMatmulAlgo_t& algorithm = proposed[proposal].algo;
      device.zero(c.data(), c.size());
      bool runs = run(device, args, trial, algorithm) == CUBLAS_STATUS_SUCCESS;
      if (runs && args.epilogue == CUBLASLT_EPILOGUE_DEFAULT) {  // the plan is for products that add, too
        args.add = true;
        runs = run(device, args, trial, algorithm) == CUBLAS_STATUS_SUCCESS;
        args.add = false;
      }
      device.zero(sum.data(), 1);
      if (runs) launch(device, "comparing products", wide, kernels::digest<Out>, c.data(), c.size(), sum.data());
      device.download(&results[proposal].emplace_back(), sum.data(), 1);
    }
  }

  Stopwatch time_of;
  Description<In, Out> description(args, device.options().tf32);
  const cublasLtMatmulAlgo_t* best = nullptr;
  const std::vector<unsigned long long>* wanted = nullptr;
  float best_time = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].back() == 0 || (wanted != nullptr && results[i] != *wanted)) continue;
    wanted = &results[i];
    const float time = time_of(device, args, description, proposed[i].algo);
    // Half a microsecond, or a fiftieth, is chance.
    const float chance = std::max(0.0005f * Stopwatch::kRepeats, 0.02f * best_time);
    if (best == nullptr || time < best_time - chance) best_time = time, best = &proposed[i].algo;
  }
  require(best != nullptr, "cuBLASLt's algorithms all refused a product of ", args.c.rows, " x ", args.c.cols);
  return *best;
}

}  // namespace gemm_detail
}  // namespace attn
