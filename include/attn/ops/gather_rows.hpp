#pragma once
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// gather_rows            to[i] = from[row[i]]: some rows of a batch, such as those of one step of its sentences
// gather_rows_gradient   dfrom[row[i]] = or += dto[i], rows that no i names = or += 0; the rows of i must differ

namespace attn {

template <class Device>
struct GatherRowsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> from;  // places x width
  const std::int32_t* row;    // rows
  Matrix<Scalar> to;          // rows x width
};

template <class Device>
struct GatherRowsGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dto;  // rows x width
  const std::int32_t* row;   // rows, all different
  Sink<Scalar> dfrom;        // places x width
};

template <class Device>
void gather_rows(Device&, const GatherRowsArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void gather_rows_gradient(Device&, const GatherRowsGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
