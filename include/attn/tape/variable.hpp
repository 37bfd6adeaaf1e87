#pragma once
#include "attn/core/matrix.hpp"

namespace attn {

/// Where the gradient of an activation will be, once the backward pass reaches its last consumer.
template <class Device>
struct GradientSlot {
  Matrix<typename Device::Scalar> gradient{};  // empty until something contributes
  Index rows = 0, cols = 0;
  bool whole = false;               // something contributed to all of it, not only to slices
  GradientSlot* of = nullptr;       // of what it is a slice, if it is one
  Index first_column = 0;           // of that slice
  GradientSlot* slices = nullptr;   // the slices it was cut into
  GradientSlot* sibling = nullptr;  // the next slice of the same whole
};

/// An activation: one row for each token of a batch, of a width the compiler knows.
template <class Device, int Width>
struct Variable {
  static constexpr int width = Width;

  Matrix<typename Device::Scalar> value;  // rows x Width
  GradientSlot<Device>* slot = nullptr;   // none when the tape does not record

  Index rows() const { return value.rows; }

  /// There is no such conversion: it is here to say so in one sentence wherever an activation of another width is needed.
  template <int Wanted>
  operator Variable<Device, Wanted>() const {
    static_assert(Wanted == Width,
                  "attn: widths differ: an activation of width Width stands where one of width Wanted is needed");
    return {};
  }
};

}  // namespace attn
