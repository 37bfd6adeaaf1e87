#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// In place of a size in a type: the size is given at run time, as Eigen::Dynamic is.
inline constexpr int dynamic = -1;

/// A size that is part of a type, or a number given at run time. Layers keep one per width: Linear<Device, 512, 2048> and
/// Linear<Device>(512, 2048) are the same class template.
template <int N = dynamic>
struct Size {
  static_assert(N > 0, "attn: a size must be positive");
  constexpr Size() = default;
  Size(Index size) {
    require(size == N, "a size of ", size, " where the type says ", N, "; pass ", N, ", or use the dynamic type");
  }
  constexpr operator int() const { return N; }
};
template <>
struct Size<dynamic> {
  Size(Index size) : value(static_cast<int>(size)) {
    require(size > 0 && size <= Index{1} << 30, "a size of ", size, " is not positive, or too large for a layer");
  }
  constexpr operator int() const { return value; }
  int value;
};

/// n * size and the sum of sizes; dynamic where a size is.
constexpr int multiple(int n, int size) { return size == dynamic ? dynamic : n * size; }
constexpr int fraction(int size, int n) { return size == dynamic ? dynamic : size / n; }
template <class... Sizes>
constexpr int total(Sizes... sizes) {
  return ((sizes == dynamic) || ...) ? dynamic : (sizes + ... + 0);
}

}  // namespace attn
