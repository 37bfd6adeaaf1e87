#pragma once
#include "attn/cpu/gemm.hpp"
#include "attn/ops/ragged_projection.hpp"

namespace attn {

template <class T>
void ragged_projection(Cpu<T>& device, const RaggedProjectionArgs<Cpu<T>>& args) {
  const Index k = args.projection.rows / args.blocks, width = args.x.cols / args.blocks;
  device.parallel(args.rows.count * args.blocks, [&](Index task, int thread) {
    const Index s = task / args.blocks, block = task % args.blocks, length = args.rows.length(s);
    const auto y = args.y.row_range(s * k, k).columns(block * width, width);
    cpu::clear(y);
    cpu::gemm(device, thread, args.projection.row_range(block * k, k).columns(0, length),
              args.x.row_range(args.rows.begin[s], length).columns(block * width, width), y);
  });
}

template <class T>
void ragged_projection_input_gradient(Cpu<T>& device, const RaggedProjectionInputGradientArgs<Cpu<T>>& args) {
  const Index k = args.projection.rows / args.blocks, width = args.dy.cols / args.blocks;
  device.parallel(args.rows.count * args.blocks, [&](Index task, int thread) {
    const Index s = task / args.blocks, block = task % args.blocks, length = args.rows.length(s);
    const auto dx = args.dx.to.row_range(args.rows.begin[s], length).columns(block * width, width);
    if (!args.dx.add) cpu::clear(dx);
    cpu::gemm<true, false>(device, thread, args.projection.row_range(block * k, k).columns(0, length),
                           args.dy.row_range(s * k, k).columns(block * width, width), dx);
  });
}

template <class T>
void ragged_projection_weight_gradient(Cpu<T>& device, const RaggedProjectionWeightGradientArgs<Cpu<T>>& args) {
  const Index k = args.dprojection.rows / args.blocks, width = args.dy.cols / args.blocks;
  // Each task owns a row range of E and adds the sentences in order.
  const Index rows = args.dprojection.rows, step = std::max<Index>(1, std::min<Index>(k, 16));
  device.parallel((rows + step - 1) / step, [&](Index task, int thread) {
    for (Index row = task * step, last = std::min(rows, row + step); row < last;) {
      const Index block = row / k, count = std::min(last, (block + 1) * k) - row;
      for (Index s = 0; s < args.rows.count; ++s) {
        const Index length = args.rows.length(s);
        cpu::gemm<false, true>(device, thread, args.dy.row_range(s * k + row % k, count).columns(block * width, width),
                               args.x.row_range(args.rows.begin[s], length).columns(block * width, width),
                               args.dprojection.row_range(row, count).columns(0, length));
      }
      row += count;
    }
  });
}

}  // namespace attn
