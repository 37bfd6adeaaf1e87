#pragma once
#include "attn/cpu/gemm.hpp"
#include "attn/ops/ragged_product.hpp"

namespace attn {

namespace cpu {

inline constexpr Index kProductRows = 64;  // of a sentence's result per task

/// work(s, first, y, thread) for blocks y of each sentence's rows, from row `first` of the sentence on. Sets them to 0 unless
/// the sink adds.
template <class T, class Work>
void for_each_block(Cpu<T>& device, const Ragged& rows, const Sink<T>& sink, const Work& work) {
  zero_outside(device, rows, sink);
  const Index blocks = (rows.longest + kProductRows - 1) / kProductRows;
  device.parallel(rows.count * blocks, [&](Index task, int thread) {
    const Index s = task / blocks, first = task % blocks * kProductRows, length = rows.length(s);
    if (first >= length) return;
    const Matrix<T> y = sink.to.row_range(rows.begin[s] + first, std::min(kProductRows, length - first));
    if (!sink.add) clear(y);
    work(s, first, y, thread);
  });
}

}  // namespace cpu

template <class T>
void ragged_scores(Cpu<T>& device, const RaggedProductArgs<Cpu<T>>& args) {
  check_ragged_product("ragged_scores", args.a_rows, args.b_rows, args.y.to.cols);
  cpu::for_each_block(device, args.a_rows, args.y, [&](Index s, Index first, const Matrix<T>& y, int thread) {
    const Index row = args.a_rows.begin[s] + first, keys = args.b_rows.length(s);
    cpu::gemm<false, true>(device, thread, args.a.row_range(row, y.rows), args.b.row_range(args.b_rows.begin[s], keys),
                           y.columns(0, keys), T(args.scale), args.a_rows.length(s));
  });
}

template <class T>
void ragged_mix(Cpu<T>& device, const RaggedProductArgs<Cpu<T>>& args) {
  check_ragged_product("ragged_mix", args.a_rows, args.b_rows, args.a.cols);
  cpu::for_each_block(device, args.a_rows, args.y, [&](Index s, Index first, const Matrix<T>& y, int thread) {
    const Index row = args.a_rows.begin[s] + first, keys = args.b_rows.length(s);
    cpu::gemm(device, thread, args.a.row_range(row, y.rows).columns(0, keys), args.b.row_range(args.b_rows.begin[s], keys),
              y, T(args.scale), args.a_rows.length(s));
  });
}

template <class T>
void ragged_mix_transposed(Cpu<T>& device, const RaggedProductArgs<Cpu<T>>& args) {
  check_ragged_product("ragged_mix_transposed", args.a_rows, args.b_rows, args.a.cols);
  cpu::for_each_block(device, args.b_rows, args.y, [&](Index s, Index first, const Matrix<T>& y, int thread) {
    const Index row = args.a_rows.begin[s], queries = args.a_rows.length(s);
    cpu::gemm<true, false>(device, thread, args.a.row_range(row, queries).columns(first, y.rows),
                           args.b.row_range(row, queries), y, T(args.scale), args.b_rows.length(s));
  });
}

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
