#pragma once
#include <cmath>

#include "attn/core/error.hpp"
#include "attn/core/matrix.hpp"
#include "attn/core/random.hpp"

namespace attn {

/// How a parameter's values are drawn before training. Settable: assign to `parameter.initial` before the model's
/// Parameters are made.
struct Initial {
  enum class Kind { constant, uniform, normal } kind = Kind::constant;
  double scale = 0;  // the constant; the bound of the uniform distribution; the standard deviation

  static constexpr Initial zero() { return {}; }
  static constexpr Initial constant(double value) { return {Kind::constant, value}; }
  static constexpr Initial uniform(double bound) { return {Kind::uniform, bound}; }
  static constexpr Initial normal(double deviation) { return {Kind::normal, deviation}; }
  /// Uniform within sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
  static Initial xavier(Index fan_in, Index fan_out) {
    return uniform(std::sqrt(6.0 / static_cast<double>(fan_in + fan_out)));
  }

  double draw(Random& random) const {
    switch (kind) {
      case Kind::uniform:
        return random.uniform(-scale, scale);
      case Kind::normal:
        return scale * random.normal();
      case Kind::constant:
        break;
    }
    return scale;
  }
};

/// Every parameter starts at a multiple of this many numbers in the flat buffers: aligned for every vector unit. A block
/// never holds two parameters, so optimisers keep per-parameter settings in a table of one entry per block.
inline constexpr Index kParameterBlock = 64;

/// The numbers a parameter takes up in the flat buffers, padding included.
constexpr Index padded_size(Index size) { return (size + kParameterBlock - 1) / kParameterBlock * kParameterBlock; }

/// A matrix that is learned. It states its shape; its memory is bound by Parameters, which holds all of a model in flat
/// buffers.
template <class Device>
struct Parameter {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  Index rows = 0, cols = 0;
  Initial initial{};
  Scalar* value = nullptr;   // rows x cols, as the model computes with it
  Real* gradient = nullptr;  // rows x cols, accumulates
  bool frozen = false;       // keeps its values: no gradient is computed for it

  Index size() const { return rows * cols; }
  /// Whether the backward pass computes its gradient.
  bool learns() const { return gradient != nullptr && !frozen; }

  /// The numbers and their gradients, which must have memory; a parameter of size 0, which stands where a layer has none,
  /// needs none.
  Scalar* values() const {
    if (value == nullptr && size() != 0) [[unlikely]]
      fail("a parameter of ", rows, " x ", cols,
           " has no memory: make a Network of its model before the model is used; if ",
           "there is one, a for_each_parameter does not visit this parameter or its layer");
    return value;
  }
  Real* gradients() const {
    if (gradient == nullptr && size() != 0) [[unlikely]]
      fail("a parameter of ", rows, " x ", cols, " has no gradient: its model was made for inference, or has no memory ",
           "yet; make its Network, or its Parameters, with a seed");
    return gradient;
  }
  Matrix<const Scalar> matrix() const { return {values(), rows, cols}; }
  Matrix<Real> gradient_matrix() const { return {gradients(), rows, cols}; }

  /// Some of its rows, as a parameter of their own.
  Parameter row_range(Index first, Index count) const {
    const auto from = [&](auto* numbers) { return numbers == nullptr ? nullptr : numbers + first * cols; };
    return {count, cols, initial, from(value), from(gradient), frozen};
  }
};

}  // namespace attn
