#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Marks a size that is given at run time, like Eigen::Dynamic.
inline constexpr int dynamic = -1;

/// A size given in the type or at run time. Layers store one per width: Linear<Device, 512, 2048> and
/// Linear<Device>(512, 2048) use the same class template.
template <int N = dynamic>
struct Size {
  static_assert(N > 0, "attn: a size must be positive");
  constexpr Size() = default;
  Size(Index size) {
    require(size == N, "a size is ", size, ", but the type says ", N, ". Pass ", N, ", or use the dynamic type.");
  }
  constexpr operator int() const { return N; }
};
template <>
struct Size<dynamic> {
  Size(Index size) : value(static_cast<int>(size)) {
    require(size > 0 && size <= Index{1} << 30, "the size ", size, " of a layer must be positive and at most 2^30");
  }
  constexpr operator int() const { return value; }
  int value;
};

/// size / n and the sum of sizes; dynamic if a size is dynamic.
constexpr int fraction(int size, int n) { return size == dynamic ? dynamic : size / n; }
constexpr int total(auto... sizes) { return ((sizes == dynamic) || ...) ? dynamic : (sizes + ... + 0); }

}  // namespace attn
