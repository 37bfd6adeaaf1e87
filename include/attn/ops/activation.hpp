#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// activation            y = f(x), number by number; x and y may be the same matrix
// activation_gradient   dx = dy * f'(x)
//
//   relu         max(x, 0)
//   gelu         x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))   GPT-2's; torch.nn.GELU(approximate="tanh")
//   gelu_exact   x/2 (1 + erf(x/√2))                        Hendrycks and Gimpel 2016; torch.nn.GELU
//   swish        x / (1 + exp(-x))                          Ramachandran et al. 2017; torch.nn.SiLU

namespace attn {

enum class ActivationKind { relu, gelu, gelu_exact, swish };

namespace gelu_numbers {
inline constexpr double slope = 0.7978845608028654;      // √(2/π)
inline constexpr double cube = 0.044715;                 // of x³
inline constexpr double root_half = 0.7071067811865476;  // 1/√2
inline constexpr double density = 0.3989422804014327;    // 1/√(2π)
inline constexpr double flat = 10;                       // beyond which gelu is 0 or x in every precision
}  // namespace gelu_numbers

template <class Device>
struct ActivationArgs {
  using Scalar = typename Device::Scalar;
  ActivationKind kind;
  Matrix<const Scalar> x;  // rows x width
  Matrix<Scalar> y;        // rows x width
};

template <class Device>
struct ActivationGradientArgs {
  using Scalar = typename Device::Scalar;
  ActivationKind kind;
  Matrix<const Scalar> dy, x;  // rows x width
  Sink<Scalar> dx;             // rows x width
};

template <class Device>
void activation(Device&, const ActivationArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void activation_gradient(Device&, const ActivationGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
