#pragma once
#include <algorithm>
#include <vector>

#include "attn/core/matrix.hpp"
#include "attn/core/memory.hpp"

namespace attn {

/// A device's tables of position vectors, one per width and kind. Recomputed when a longer sentence needs more rows.
template <class Device>
class PositionTables {
 public:
  using Scalar = typename Device::Scalar;

  /// The first `length` position vectors. fill(device, table) computes a table of this kind.
  Matrix<const Scalar> get(Device& device, Index width, Index length, const auto& fill, int kind = 0) {
    auto found =
        std::find_if(tables_.begin(), tables_.end(), [&](const Table& t) { return t.width == width && t.kind == kind; });
    if (found == tables_.end()) found = tables_.insert(found, Table{kind, width, 0, {}});
    if (found->length < length) {
      found->length = std::max<Index>(512, 2 * length);
      found->numbers = Buffer<Scalar, typename Device::Memory>(device, found->length * width);
      fill(device, Matrix<Scalar>(found->numbers.data(), found->length, width));
    }
    return {found->numbers.data(), length, width};
  }

 private:
  struct Table {
    int kind;
    Index width, length;
    Buffer<Scalar, typename Device::Memory> numbers;
  };
  std::vector<Table> tables_;
};

}  // namespace attn
