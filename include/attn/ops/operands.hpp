#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"

namespace attn {

// Activations and weights as operands of an op.
template <class Device>
using InputOf = Matrix<const typename Device::Scalar>;
template <class Device>
using OutputOf = Matrix<typename Device::Scalar>;
template <class Device>
using SinkOf = Sink<typename Device::Scalar>;

/// For ops that write per sentence: zeroes rows outside all sentences unless the sink adds. It may zero all rows, so call
/// it before the op writes.
template <class Device, class T>
void zero_outside(Device& device, const Ragged& rows, const Sink<T>& sink) {
  if (!sink.add && rows.rows < sink.to.rows) device.zero(sink.to);
}

}  // namespace attn
