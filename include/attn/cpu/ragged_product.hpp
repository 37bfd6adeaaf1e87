#pragma once
#include <algorithm>

#include "attn/cpu/gemm.hpp"
#include "attn/ops/ragged_product.hpp"
#include "attn/ops/zero_outside.hpp"

namespace attn {

namespace cpu {

inline constexpr Index kProductRows = 64;  // of a sentence's result per task

/// work(s, first, count, thread) for blocks of rows of each sentence.
template <class T, class Work>
void for_each_block(Cpu<T>& device, const Ragged& rows, const Work& work) {
  const Index blocks = (rows.longest + kProductRows - 1) / kProductRows;
  device.parallel(rows.count * blocks, [&](Index task, int thread) {
    const Index s = task / blocks, first = task % blocks * kProductRows, length = rows.length(s);
    if (first < length) work(s, first, std::min(kProductRows, length - first), thread);
  });
}

}  // namespace cpu

template <class T>
void ragged_scores(Cpu<T>& device, const RaggedScoresArgs<Cpu<T>>& args) {
  check_ragged_product("ragged_scores", args.a_rows, args.b_rows, args.y.to.cols);
  zero_outside(device, args.a_rows, args.y);
  cpu::for_each_block(device, args.a_rows, [&](Index s, Index first, Index count, int thread) {
    const Index row = args.a_rows.begin[s] + first, keys = args.b_rows.length(s);
    const Matrix<T> y = args.y.to.row_range(row, count);
    if (!args.y.add) cpu::clear(y);
    cpu::gemm<false, true>(device, thread, args.a.row_range(row, count), args.b.row_range(args.b_rows.begin[s], keys),
                           y.columns(0, keys), T(args.scale), args.a_rows.length(s));
  });
}

template <class T>
void ragged_mix(Cpu<T>& device, const RaggedMixArgs<Cpu<T>>& args) {
  check_ragged_product("ragged_mix", args.a_rows, args.b_rows, args.w.cols);
  zero_outside(device, args.a_rows, args.y);
  cpu::for_each_block(device, args.a_rows, [&](Index s, Index first, Index count, int thread) {
    const Index row = args.a_rows.begin[s] + first, keys = args.b_rows.length(s);
    const Matrix<T> y = args.y.to.row_range(row, count);
    if (!args.y.add) cpu::clear(y);
    cpu::gemm(device, thread, args.w.row_range(row, count).columns(0, keys), args.b.row_range(args.b_rows.begin[s], keys),
              y, T(args.scale), args.a_rows.length(s));
  });
}

template <class T>
void ragged_mix_transposed(Cpu<T>& device, const RaggedMixTransposedArgs<Cpu<T>>& args) {
  check_ragged_product("ragged_mix_transposed", args.a_rows, args.b_rows, args.w.cols);
  zero_outside(device, args.b_rows, args.y);
  cpu::for_each_block(device, args.b_rows, [&](Index s, Index first, Index count, int thread) {
    const Index row = args.a_rows.begin[s], queries = args.a_rows.length(s);
    const Matrix<T> y = args.y.to.row_range(args.b_rows.begin[s] + first, count);
    if (!args.y.add) cpu::clear(y);
    cpu::gemm<true, false>(device, thread, args.w.row_range(row, queries).columns(first, count),
                           args.x.row_range(row, queries), y, T(args.scale), args.b_rows.length(s));
  });
}

}  // namespace attn
