#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/dropout.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/embedding.hpp"

namespace attn {

template <class T>
void embedding(Cpu<T>& device, const EmbeddingArgs<Cpu<T>>& args) {
  const Index width = args.table.cols;
  const auto embed = [&](Index s, int thread) {
    T* buffer = device.workspace(thread, width);
    const Index first = args.first_positions ? args.first_positions[s] : args.first_position;
    for (Index i = args.rows.begin[s]; i < args.rows.end[s]; ++i) {
      auto y = cpu::row_array(args.y, i);
      y = cpu::row_array(args.table, args.tokens[i]) * T(args.scale);
      if (!args.positions.empty()) y += cpu::row_array(args.positions, first + i - args.rows.begin[s]);
      if (args.dropout.active()) cpu::drop_row(args.dropout, i, y.data(), y.data(), width, false, buffer);
    }
  };
  if (args.rows.rows * width < cpu::kWorthwhile)
    for (Index s = 0; s < args.rows.count; ++s) embed(s, 0);
  else
    device.parallel(args.rows.count, embed);
}

template <class T>
void embedding_gradient(Cpu<T>& device, const EmbeddingGradientArgs<Cpu<T>>& args) {
  // Each thread owns some columns of all rows, so every sum is in row order.
  device.parallel_ranges(args.dy.cols, 64, [&](Index first, Index last, int thread) {
    T* buffer = device.workspace(thread, last - first);
    for (Index i = 0; i < args.dy.rows; ++i) {
      const auto dy = cpu::array(args.dy.row(i) + first, last - first);
      auto dtable = cpu::array(args.dtable.row(args.tokens[i]) + first, last - first);
      if (args.dropout.active()) {
        cpu::factors(args.dropout, i, first, last - first, buffer);
        dtable += dy * cpu::array(buffer, last - first) * T(args.scale);
      } else {
        dtable += dy * T(args.scale);
      }
    }
  });
}

template <class T>
void sinusoid(Cpu<T>&, Matrix<T> positions, SinusoidOrder order = SinusoidOrder::alternating, double base = 10000) {
  const Index sines = (positions.cols + 1) / 2;
  for (Index p = 0; p < positions.rows; ++p)
    for (Index j = 0; j < positions.cols; ++j) {
      const bool halves = order == SinusoidOrder::halves, sine = halves ? j < sines : j % 2 == 0;
      const Index twice = halves ? 2 * (sine ? j : j - sines) : j - j % 2;
      const double angle =
          static_cast<double>(p) * std::pow(base, -static_cast<double>(twice) / static_cast<double>(positions.cols));
      positions(p, j) = static_cast<T>(sine ? std::sin(angle) : std::cos(angle));
    }
}

namespace cpu {

/// a * b + c, rounded once if the processor can. The compiler would contract a loop's vectors and its rest differently.
template <class T>
T multiply_add(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace cpu

template <class T>
void rotary(Cpu<T>& device, const RotaryArgs<Cpu<T>>& args) {
  const Index width = args.table.cols, half = width / 2;
  device.parallel(args.rows.count, [&](Index s, int) {
    const Index first = args.first_positions ? args.first_positions[s] : args.first_position;
    for (Index i = args.rows.begin[s]; i < args.rows.end[s]; ++i) {
      const T* angle = args.table.row(first + i - args.rows.begin[s]);
      for (Index column = 0; column < args.x.cols; column += width) {
        const T* x = args.x.row(i) + column;
        T* y = args.y.to.row(i) + column;
        for (Index j = 0; j < half; ++j) {
          const T a = x[j], b = x[j + half], sine = args.inverse ? -angle[j] : angle[j], cosine = angle[j + half];
          args.y.put(y[j], cpu::multiply_add(a, cosine, -(b * sine)));
          args.y.put(y[j + half], cpu::multiply_add(b, cosine, a * sine));
        }
      }
    }
  });
}

}  // namespace attn
