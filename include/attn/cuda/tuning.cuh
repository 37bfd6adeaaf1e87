#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "attn/core/random.hpp"
#include "attn/cuda/product.cuh"

namespace attn {
namespace kernels {

/// Numbers in [-1, 1) that look like operands: zeros would run faster than life.
template <class T>
__global__ void fill_random(T* numbers, Index count, RandomKey key) {
  for (Index i = blockIdx.x * Index{blockDim.x} + threadIdx.x; i < count; i += Index{gridDim.x} * blockDim.x)
    numbers[i] = from_float<T>(
        static_cast<float>(static_cast<std::int32_t>(random_bits(key, static_cast<std::uint32_t>(i)))) * 0x1p-31f);
}

/// A number that tells two results apart when a bit differs. Whole numbers add up the same in any order.
template <class T>
__global__ void digest(const T* numbers, Index count, unsigned long long* sum) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
  unsigned long long mine = 0;
  for (Index i = blockIdx.x * Index{blockDim.x} + threadIdx.x; i < count; i += Index{gridDim.x} * blockDim.x) {
    const std::uint32_t bits = reinterpret_cast<const Bits*>(numbers)[i];
    mine += random_bits({bits, 0x9e3779b9U}, static_cast<std::uint32_t>(i));
  }
  atomicAdd(sum, mine);
}

}  // namespace kernels

namespace gemm_detail {

/// Chooses the algorithm for a product: cuBLASLt's first proposal, or a later one that is clearly faster and gives the same bits
/// of trial operands. That timing, which varies, never changes results is what this is for, but not what it guarantees: few
/// numbers in bfloat16 hardly show in which order they were summed. Where a run has to repeat another's bits, it takes the
/// other's plans (Plans::save). `round` also rounds the rows up, so that the choice does not depend on which batch came first.
template <class T, class In, class Out>
cublasLtMatmulAlgo_t choose(Cuda<T>& device, GemmArgs<In, Out> args, bool round) {
  const Index a_alignment = alignment(args.a), b_alignment = alignment(args.b), c_alignment = alignment(args.c);
  // Operands of its own: the product may add to what must not be added to twice.
  if (round && args.repeat.count == 1) {
    Index& a_rows = args.a.rows;
    a_rows = Plans::rounded(a_rows);
    (args.rows_are_terms ? args.b.rows : args.c.rows) = a_rows;
  }
  const auto room = [&](auto matrix, Index step) { return matrix.rows * matrix.stride + (args.repeat.count - 1) * step; };
  Buffer<In, CudaMemory> a(room(args.a, args.repeat.a), "trial products"), b(room(args.b, args.repeat.b), "trial products");
  Buffer<Out, CudaMemory> c(room(args.c, args.repeat.c), "trial products");
  Buffer<float, CudaMemory> bias(args.c.cols, "trial products");
  Buffer<unsigned long long, CudaMemory> sum(1);
  const Spread wide{{static_cast<unsigned>(4 * device.multiprocessors())}, 256};
  launch(device, "trial operands", wide, kernels::fill_random<In>, a.data(), a.size(), RandomKey{1, 2});
  launch(device, "trial operands", wide, kernels::fill_random<In>, b.data(), b.size(), RandomKey{3, 4});
  device.zero(c.data(), c.size());
  device.zero(bias.data(), bias.size());
  args.a.data = a.data();
  args.b.data = b.data();
  args.c.data = c.data();
  if (args.bias != nullptr) args.bias = bias.data();
  args.add = false;

  Description<In, Out> description(args, device.options().tf32);
  cublasLtMatmulPreferenceOpaque_t preference;
  check(cublasLtMatmulPreferenceInit(&preference), "product");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof(value)), "product");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{Plans::kWorkspace});
  // Partial sums in memory of their own, added in order; not added in place in whatever order they are done.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(b_alignment));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(a_alignment));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(c_alignment));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(c_alignment));

  constexpr int kProposals = 16;
  std::vector<cublasLtMatmulHeuristicResult_t> proposals(kProposals);
  int found = 0;
  check(cublasLtMatmulAlgoGetHeuristic(device.cublas(), &description.operation, &description.first, &description.second,
                                       &description.result, &description.result, &preference, kProposals, proposals.data(),
                                       &found),
        "asking for algorithms");
  require(found > 0, "cuBLASLt knows no way to multiply ", args.c.rows, " x ", args.c.cols, " with rows ", args.a.stride,
          ", ", args.b.stride, " and ", args.c.stride, " apart");

  cudaEvent_t start, end;
  check(cudaEventCreate(&start), "timing products");
  check(cudaEventCreate(&end), "timing products");
  const auto digest = [&] {
    unsigned long long result = 0;
    device.zero(sum.data(), 1);
    launch(device, "comparing products", wide, kernels::digest<Out>, c.data(), c.size(), sum.data());
    device.download(&result, sum.data(), 1);
    return result;
  };
  const cublasLtMatmulAlgo_t* best = nullptr;
  float best_time = std::numeric_limits<float>::infinity();
  unsigned long long wanted = 0;
  for (int i = 0; i < found; ++i) {
    const cublasLtMatmulAlgo_t& algorithm = proposals[static_cast<std::size_t>(i)].algo;
    if (run(device, args, description, algorithm) != CUBLAS_STATUS_SUCCESS) continue;
    const unsigned long long result = digest();
    if (best == nullptr)
      wanted = result;
    else if (result != wanted)
      continue;
    constexpr int kRepeats = 4;
    float time = std::numeric_limits<float>::infinity();  // ms, of all repeats
    for (int trial = 0; trial < 3; ++trial) {
      float once = 0;
      check(cudaEventRecord(start, device.stream()), "timing products");
      for (int repeat = 0; repeat < kRepeats; ++repeat) (void)run(device, args, description, algorithm);
      check(cudaEventRecord(end, device.stream()), "timing products");
      check(cudaEventSynchronize(end), "timing products");
      check(cudaEventElapsedTime(&once, start, end), "timing products");
      time = std::min(time, once);
    }
    // Half a microsecond, or a fiftieth, is chance.
    const float chance = std::max(0.0005f * kRepeats, 0.02f * best_time);
    if (best == nullptr || time < best_time - chance) best_time = time, best = &algorithm;
  }
  (void)cudaEventDestroy(start);
  (void)cudaEventDestroy(end);
  require(best != nullptr, "cuBLASLt's algorithms all refused a product of ", args.c.rows, " x ", args.c.cols);
  return *best;
}

}  // namespace gemm_detail
}  // namespace attn
