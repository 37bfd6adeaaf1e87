#pragma once
#include "attn/core/memory.hpp"

namespace attn {

/// A device's tables of position vectors, one per width and kind. Recomputed when a longer sentence needs more rows.
template <class Device>
class PositionTables {
 public:
  using Scalar = typename Device::Scalar;

  /// The first `length` position vectors. fill(device, table) computes a table of this kind.
  Matrix<const Scalar> get(Device& device, Index width, Index length, const auto& fill, int kind = 0) {
    auto& [rows, numbers] = tables_[{width, kind}];
    if (rows < length) {
      rows = std::max<Index>(512, 2 * length);
      numbers = Buffer<Scalar, typename Device::Memory>(device, rows * width);
      fill(device, Matrix<Scalar>(numbers.data(), rows, width));
    }
    return {numbers.data(), length, width};
  }

 private:
  std::map<std::pair<Index, int>, std::pair<Index, Buffer<Scalar, typename Device::Memory>>> tables_;
};

}  // namespace attn
