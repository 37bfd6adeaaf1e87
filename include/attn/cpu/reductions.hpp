#pragma once
#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/reductions.hpp"

namespace attn {

template <class T>
void reduce_all(Cpu<T>& device, const ReduceAllArgs<Cpu<T>>& args) {
  const Index block = cpu::worthwhile_rows(args.x.cols);  // fixed blocks: the same bits for any number of threads
  const Index blocks = (args.x.rows + block - 1) / block;
  T* sums = device.results(blocks);
  device.parallel(blocks, [&](Index b, int) {
    sums[b] = 0;
    for (Index i = b * block; i < std::min(args.x.rows, (b + 1) * block); ++i) sums[b] += cpu::row_array(args.x, i).sum();
  });
  T total = 0;
  for (Index b = 0; b < blocks; ++b) total += sums[b];
  *args.y += T(args.scale) * total;
}

template <class T>
void fill(Cpu<T>& device, const FillArgs<Cpu<T>>& args) {
  const Matrix<T> y = args.y.to;
  const T value = T(args.value);
  device.parallel_rows(y.rows, y.cols, [&](Index i) {
    cpu::put(cpu::row_array(y, i), cpu::RowArray<T>::PlainObject::Constant(y.cols, value), args.y.add);
  });
}

namespace cpu {

/// The maximum of two numbers; NaN if one is NaN.
template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

/// Whether x is the maximum found by `larger`.
template <class T>
bool is_largest(T x, T most) {
  return x == most || (x != x && most != most);
}

/// work(i, seen) for each row i that the mask covers. Row i sees its first `seen` columns.
template <class T, class Work>
void for_each_masked_row(Cpu<T>& device, const RaggedMask& mask, Index rows, Index cols, const Work& work) {
  if (!mask.active()) return device.parallel_rows(rows, cols, [&](Index i) { work(i, cols); });
  device.parallel(mask.queries.count, [&](Index s, int) {
    const Index begin = mask.queries.begin[s], queries = mask.queries.length(s), keys = mask.keys.length(s);
    for (Index i = 0; i < queries; ++i)
      work(begin + i, mask.causal ? std::clamp<Index>(keys - queries + i + 1, 0, keys) : keys);
  });
}

}  // namespace cpu

template <class T>
void reduce_columns(Cpu<T>& device, const ReduceColumnsArgs<Cpu<T>>& args) {
  const Index cols = args.x.cols;
  check_reduced_columns(args.kind, cols);
  device.parallel_rows(args.x.rows, cols, [&](Index i) {
    const auto x = cpu::row_array(args.x, i);
    T& y = args.y(i, 0);
    if (args.kind == Reduction::max) {
      y = x[0];
      for (Index j = 1; j < cols; ++j) y = cpu::larger(x[j], y);
    } else {
      y = args.kind == Reduction::sum ? x.sum() : x.sum() / static_cast<T>(cols);
    }
  });
}

template <class T>
void reduce_columns_gradient(Cpu<T>& device, const ReduceColumnsGradientArgs<Cpu<T>>& args) {
  const Index cols = args.dx.to.cols;
  check_reduced_columns(args.kind, cols);
  device.parallel_rows(args.dx.to.rows, cols, [&](Index i) {
    auto dx = cpu::row_array(args.dx.to, i);
    const T dy = args.dy(i, 0);
    if (args.kind == Reduction::max) {
      if (!args.dx.add) dx = T(0);
      Index j = 0;
      while (j < cols && !cpu::is_largest(args.x(i, j), args.y(i, 0))) ++j;
      if (j < cols) dx[j] += dy;
    } else {
      const T each = args.kind == Reduction::sum ? dy : dy / static_cast<T>(cols);
      cpu::put(dx, cpu::RowArray<T>::PlainObject::Constant(cols, each), args.dx.add);
    }
  });
}

template <class T>
void reduce_rows(Cpu<T>& device, const ReduceRowsArgs<Cpu<T>>& args) {
  refuse_lists("reduce_rows", args.rows);
  device.parallel(args.rows.count, [&](Index s, int) {
    const Index begin = args.rows.begin[s], end = args.rows.end[s];
    auto y = cpu::row_array(args.y.to, s);
    if (!args.y.add && begin == end) y = T(0);
    if (begin == end) return;
    if (!args.y.add) y = cpu::row_array(args.x, args.kind == RowReduction::last ? end - 1 : begin);
    if (args.kind == RowReduction::first || args.kind == RowReduction::last) return;
    for (Index i = args.y.add ? begin : begin + 1; i < end; ++i) {
      const auto x = cpu::row_array(args.x, i);
      if (args.kind == RowReduction::max)
        for (Index c = 0; c < args.x.cols; ++c) y[c] = cpu::larger(x[c], y[c]);
      else
        y += x;
    }
    if (args.kind == RowReduction::mean) y /= static_cast<T>(end - begin);
  });
}

template <class T>
void reduce_rows_gradient(Cpu<T>& device, const ReduceRowsGradientArgs<Cpu<T>>& args) {
  refuse_lists("reduce_rows_gradient", args.rows);
  zero_outside(device, args.rows, args.dx);
  device.parallel(args.rows.count, [&](Index s, int) {
    const Index begin = args.rows.begin[s], end = args.rows.end[s];
    const Matrix<T> dx = args.dx.to.row_range(begin, end - begin);
    if (begin == end) return;
    const auto dy = cpu::row_array(args.dy, s);
    if (args.kind == RowReduction::sum) {
      for (Index i = 0; i < dx.rows; ++i) cpu::put(cpu::row_array(dx, i), dy, args.dx.add);
    } else if (args.kind == RowReduction::mean) {
      for (Index i = 0; i < dx.rows; ++i) cpu::put(cpu::row_array(dx, i), dy / static_cast<T>(dx.rows), args.dx.add);
    } else {
      if (!args.dx.add) cpu::clear(dx);
      if (args.kind != RowReduction::max) cpu::row_array(dx, args.kind == RowReduction::first ? 0 : dx.rows - 1) += dy;
      for (Index c = 0; c < dx.cols && args.kind == RowReduction::max; ++c) {
        Index i = 0;
        while (i < dx.rows && !cpu::is_largest(args.x(begin + i, c), args.y(s, c))) ++i;
        if (i < dx.rows) dx(i, c) += dy[c];
      }
    }
  });
}

template <class T>
void softmax(Cpu<T>& device, const SoftmaxArgs<Cpu<T>>& args) {
  const Index cols = args.x.cols;
  check_mask("softmax", args.mask, cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, Sink<T>{args.y});
  cpu::for_each_masked_row(device, args.mask, args.x.rows, cols, [&](Index i, Index seen) {
    const T* x = args.x.row(i);
    T* y = args.y.row(i);
    const T most = seen > 0 ? cpu::largest(x, seen) : -std::numeric_limits<T>::infinity();
    if (most == -std::numeric_limits<T>::infinity()) seen = 0;
    std::fill(y + seen, y + cols, T(0));
    if (seen == 0) return;
    const T sum = cpu::exponentials(x, seen, most, y);
    auto row = cpu::array(y, seen);
    if (args.log)
      row = cpu::array(x, seen) - most - std::log(sum);
    else
      row /= sum;
  });
}

template <class T>
void softmax_gradient(Cpu<T>& device, const SoftmaxGradientArgs<Cpu<T>>& args) {
  const Index cols = args.y.cols;
  check_mask("softmax_gradient", args.mask, cols);
  if (args.mask.active()) zero_outside(device, args.mask.queries, args.dx);
  cpu::for_each_masked_row(device, args.mask, args.y.rows, cols, [&](Index i, Index seen) {
    const auto y = cpu::array(args.y.row(i), seen), dy = cpu::array(args.dy.row(i), seen);
    auto dx = cpu::array(args.dx.to.row(i), seen);
    if (args.log)
      cpu::put(dx, dy - y.exp() * dy.sum(), args.dx.add);
    else
      cpu::put(dx, y * (dy - (y * dy).sum()), args.dx.add);
    if (!args.dx.add) std::fill(args.dx.to.row(i) + seen, args.dx.to.row(i) + cols, T(0));
  });
}

}  // namespace attn
