#pragma once
#include "attn/core/matrix.hpp"

// gather_rows            to[i] = from[row[i]]: selects rows of a batch, for example those of one step
// gather_rows_gradient   sets or adds: dfrom[row[i]] = dto[i], and 0 for all other rows of dfrom; row[i] must be unique

namespace attn {

template <class Device>
struct GatherRowsArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> from;  // source rows x width
  const std::int32_t* row;    // rows
  Matrix<Scalar> to;          // rows x width
};

template <class Device>
struct GatherRowsGradientArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> dto;  // rows x width
  const std::int32_t* row;   // rows, all different
  Sink<Scalar> dfrom;        // source rows x width
};

}  // namespace attn
