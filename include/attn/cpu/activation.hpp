#pragma once
#include <cmath>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/activation.hpp"

namespace attn {

namespace cpu {

/// tanh(√(2/π) (x + 0.044715 x³)), of rows. What it is multiplied with may be huge, so that it has to be 1 where it rounds to 1: Eigen's
/// tanh of floats ends 3e-7 below on some processors.
template <class Row>
auto gelu_tanh(const Row& x) {
  using T = typename Row::Scalar;
  constexpr T kOne = sizeof(T) == 4 ? T(9.1) : T(20);  // whose tanh rounds to 1
  const auto inner = T(gelu_numbers::slope) * x * (1 + T(gelu_numbers::cube) * x * x);
  return (inner.abs() > kOne).select(inner.sign(), inner.tanh());
}
/// erf(x / √2)
template <class Row>
auto gelu_erf(const Row& x) {
  using T = typename Row::Scalar;
  return x.unaryExpr([](T number) { return std::erf(number * T(gelu_numbers::root_half)); });
}

}  // namespace cpu

template <class T>
void activation(Cpu<T>& device, const ActivationArgs<Cpu<T>>& args) {
  device.parallel_ranges(args.x.rows, 16, [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) {
      const auto x = cpu::row_array(args.x, i);
      auto y = cpu::row_array(args.y, i);
      switch (args.kind) {
        case ActivationKind::relu:
          y = x.max(T(0));
          break;
        case ActivationKind::gelu:
          y = T(0.5) * x * (1 + cpu::gelu_tanh(x));
          break;
        case ActivationKind::gelu_exact:
          y = T(0.5) * x * (1 + cpu::gelu_erf(x));
          break;
        case ActivationKind::swish:
          y = x / (1 + (-x).exp());
          break;
      }
    }
  });
}

template <class T>
void activation_gradient(Cpu<T>& device, const ActivationGradientArgs<Cpu<T>>& args) {
  using namespace gelu_numbers;
  const Index width = args.x.cols;
  device.parallel_ranges(args.x.rows, 16, [&](Index first, Index last, int thread) {
    T* space = device.workspace(thread, 2 * width);
    auto s = cpu::array(space, width), near = cpu::array(space + width, width);
    for (Index i = first; i < last; ++i) {
      const auto x = cpu::row_array(args.x, i), dy = cpu::row_array(args.dy, i);
      const auto put = [&](const auto& dx) { cpu::put(cpu::row_array(args.dx.to, i), dx, args.dx.add); };
      switch (args.kind) {
        case ActivationKind::relu:
          put((x > T(0)).select(dy, T(0)));
          break;
        case ActivationKind::gelu:
          near = x.min(T(flat)).max(T(-flat));  // its square is finite, and the tail's slope is 0 already
          s = cpu::gelu_tanh(near);
          put(dy * T(0.5) * (1 + s + near * (1 - s * s) * T(slope) * (1 + T(3 * cube) * near * near)));
          break;
        case ActivationKind::gelu_exact:
          put(dy * (T(0.5) * (1 + cpu::gelu_erf(x)) + x * T(density) * (T(-0.5) * x * x).exp()));
          break;
        case ActivationKind::swish:
          s = 1 / (1 + (-x).exp());
          put(dy * s * (1 + x * (1 - s)));
          break;
      }
    }
  });
}

}  // namespace attn
