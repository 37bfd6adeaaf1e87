#pragma once
#include <cmath>

#include "attn/core/error.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/random.hpp"

namespace attn {

/// The distribution of a parameter's initial values. Assign to `parameter.initial` before you create the model's Parameters
/// to change it.
struct Initializer {
  enum class Kind { constant, uniform, normal } kind = Kind::constant;
  double scale = 0;  // the constant; the bound of the uniform distribution; the standard deviation

  static constexpr Initializer zero() { return {}; }
  static constexpr Initializer constant(double value) { return {Kind::constant, value}; }
  static constexpr Initializer uniform(double bound) { return {Kind::uniform, bound}; }
  static constexpr Initializer normal(double deviation) { return {Kind::normal, deviation}; }
  /// Uniform within sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
  static Initializer xavier(Index fan_in, Index fan_out) {
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

/// Parameters are aligned to this number of elements in the flat buffers, enough for every vector unit. A block never
/// holds two parameters, so optimisers keep per-parameter settings in a table with one entry per block.
inline constexpr Index kParameterBlock = 64;

/// A parameter's size in the flat buffers, including padding.
constexpr Index padded_size(Index size) { return (size + kParameterBlock - 1) / kParameterBlock * kParameterBlock; }

/// Parameter::note of a parameter that no for_each_parameter visited, until ParameterWalk::note_unvisited says where it is.
inline constexpr char kUnvisited[] = "";

/// A learned matrix. The layer sets its shape; Parameters allocates all parameters of a model in flat buffers and binds
/// the pointers.
template <class Device>
struct Parameter {
  using DeviceType = Device;
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  Index rows = 0, cols = 0;
  Initializer initial{};
  Scalar* value = nullptr;   // rows x cols, in the precision of the model's computation
  Real* gradient = nullptr;  // rows x cols, accumulates
  bool frozen = false;       // its values do not change, and no gradient is computed
  const char* note = kUnvisited;

  Index size() const { return rows * cols; }
  /// Whether the backward pass computes a gradient for it.
  bool learns() const { return gradient != nullptr && !frozen; }

  /// The values and gradients. Throws an Error if they are not allocated. A parameter of size 0 stands for an absent one
  /// and needs no memory.
  Scalar* values() const {
    if (value == nullptr && size() != 0) [[unlikely]]
      fail("a parameter of ", rows, " x ", cols,
           " has no memory. Create a Network of its model before you use the model. If you have one, a for_each_parameter "
           "does not visit this parameter or its layer",
           note, ".");
    return value;
  }
  Real* gradients() const {
    if (gradient == nullptr && size() != 0) [[unlikely]]
      fail("a parameter of ", rows, " x ", cols,
           " has no gradient: its network was made for inference, or does not exist yet. Create the Network or the "
           "Parameters with a seed.");
    return gradient;
  }
  MatrixOn<Device, const Scalar> matrix() const { return {values(), rows, cols}; }
  MatrixOn<Device, Real> gradient_matrix() const { return {gradients(), rows, cols}; }

  /// A view of some rows as a parameter.
  Parameter row_range(Index first, Index count) const {
    const auto from = [&](auto* numbers) { return numbers == nullptr ? nullptr : numbers + first * cols; };
    return {count, cols, initial, from(value), from(gradient), frozen, note};
  }
};

}  // namespace attn
