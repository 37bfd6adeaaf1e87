#pragma once
#include <cfloat>

#include "attn/cuda/support/launch.cuh"
#include "attn/cuda/support/vector_types.cuh"

// Exponentials of rows, computed by a thread block; shared by softmax and the losses.

namespace attn {
namespace kernels {

/// e^x: accurate in float, else by the hardware's ex2, which for x <= 0 is accurate to 1e-6 of the sum.
template <class T>
__device__ float exponential(float x) {
  if constexpr (std::is_same_v<T, float>) return expf(x);
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));
  return power;
}

/// The maximum of a row, and the sum of exp(x - maximum). The sum is 0 for a row that is empty or all -inf.
struct RowExponentials {
  float most, sum;
};

/// All 32 * Warps threads of a block call this and get the result. Each thread rescales its sum when its maximum grows.
template <int Warps, class T>
__device__ RowExponentials row_exponentials(const T* row, int count) {
  float most = -FLT_MAX, sum = 0;
  for (int j = static_cast<int>(threadIdx.x); j < count; j += 32 * Warps) {
    const float x = to_float(row[j]);
    if (x > most) {
      sum *= exponential<T>(most - x);
      most = x;
    }
    sum += exponential<T>(x - most);
  }
  const float peak = block_max<Warps>(most);
  return {peak, block_sum<Warps>(sum * exponential<T>(most - peak))};
}

}  // namespace kernels

/// Launches a kernel with one block per row: `narrow` has one warp, `wide`, for rows of more than 256 columns, eight.
template <class Device, class... Parameters, class... Arguments>
void launch_row_blocks(Device& device, const char* what, Index rows, Index cols, void (*narrow)(Parameters...),
                       void (*wide)(Parameters...), const Arguments&... arguments) {
  const bool fits = cols <= 256;
  launch(device, what, {{static_cast<unsigned>(rows)}, fits ? 32U : 256U}, fits ? narrow : wide, arguments...);
}

}  // namespace attn
