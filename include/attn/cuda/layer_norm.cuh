#pragma once
#include "attn/cuda/layer_norm/kernels.cuh"
#include "attn/cuda/support/sum_parts.cuh"

// Rows of up to 8 packs per lane stay in a warp's registers, in their storage precision:
//
//                         rows in registers                       any rows
//   layer_norm            layer_norm<P>, a warp a row             layer_norm_any, a warp a row
//   layer_norm_gradient   layer_norm_gradient<P>, a warp a row    layer_norm_gradient_any, a block a row
//                         then sum_parts: adds the blocks' sums for gain and bias, in order
//
// A decoder's layer norm of up to 8 rows is fused into the product that reads it: matmul/few_rows.cuh.

namespace attn {

/// Calls run<P>() if rows of this width fit into P packs per lane, run<0>() if they cannot be kept in registers.
template <class T, class Run>
void with_packs_a_lane(bool packs, Index width, const Run& run) {
  const Index needed = divide_up(width, 32 * Pack<T>::size);
  if (!packs || needed > 8)
    run.template operator()<0>();
  else if (needed <= 2)
    run.template operator()<2>();
  else if (needed <= 4)
    run.template operator()<4>();
  else
    run.template operator()<8>();
}

template <class T>
void run_layer_norm(Cuda<T>& device, const LayerNormArgs<Cuda<T>>& args) {
  const Index width = args.x.cols;
  const bool packs = in_packs(args.x, args.branch, args.z, args.y) && in_packs(args.gain, width, width) &&
                     (!args.center || in_packs(args.bias, width, width));
  with_packs_a_lane<T>(packs, width, [&]<int P>() {
    if constexpr (P > 0)
      launch_overlapping(
          device, "layer_norm", warp_a_row(args.x.rows),
          P <= 4 && args.x.rows <= 512 ? kernels::layer_norm<P, P <= 4, T> : kernels::layer_norm<P, false, T>, args);
    else
      launch_overlapping(device, "layer_norm", warp_a_row(args.x.rows), kernels::layer_norm_any<T>, args);
  });
}

/// Whether a product of few rows can fuse it. A separate kernel is faster with more rows: each block repeats the norm.
inline bool fits_product(const LayerNormArgs<Cuda<bfloat16>>& args) {
  const Index width = args.x.cols;
  const bool branch_as_it_is = args.branch.data == nullptr || (!args.dropout.active() && args.z.data == nullptr);
  return args.x.rows > 0 && args.x.rows <= 8 && width > 0 && width <= 512 && width % 32 == 0 && branch_as_it_is &&
         in_packs(args.x, args.branch, args.y) && in_packs(args.gain, width, width) &&
         (!args.center || in_packs(args.bias, width, width));
}

template <class T>
void layer_norm(Cuda<T>& device, const LayerNormArgs<Cuda<T>>& args) {
  if constexpr (std::is_same_v<T, bfloat16>)
    if (fits_product(args)) return device.defer(args, run_layer_norm<T>);
  run_layer_norm(device, args);
}

template <class T>
void layer_norm_gradient(Cuda<T>& device, const LayerNormGradientArgs<Cuda<T>>& args) {
  const Index width = args.z.cols;
  if (args.z.rows == 0) return;
  const bool packs = in_packs(args.z, args.dy, args.dx.to, args.dbranch.to) && in_packs(args.gain, width, width);
  with_packs_a_lane<T>(packs, width, [&]<int P>() {
    const Index rows_at_once = P > 0 ? kRowWarps : 1;
    const Index blocks = std::min<Index>(divide_up(args.z.rows, rows_at_once), 2 * device.multiprocessors());
    float* parts = device.template workspace<float>(blocks * 2 * width);
    const Spread spread{{static_cast<unsigned>(blocks)}, 32 * kRowWarps};
    if constexpr (P > 0)
      launch(device, "layer_norm_gradient", spread, kernels::layer_norm_gradient<P, T>, args, parts);
    else
      launch(device, "layer_norm_gradient", spread, kernels::layer_norm_gradient_any<T>, args, parts);
    sum_parts(device, "layer_norm_gradient", kernels::SumsToVectors<2>{{args.dgain, args.center ? args.dbias : nullptr}}, 2,
              width, true, parts, blocks, width);
  });
}

}  // namespace attn
