#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/random.hpp"
#include "attn/ops/no_backend.hpp"

namespace attn {

/// What dropout does to a matrix: element (i, j) becomes 0 with probability `rate`, else grows by 1 / (1 - rate). Which, is
/// a pure function of (key, i, j): forward and backward, on every device, compute the same mask and none stores it.
struct Dropout {
  float rate = 0;
  RandomKey key{};

  bool active() const { return rate > 0; }
  ATTN_BOTH constexpr float scale() const { return 1 / (1 - rate); }

  struct Row {
    RandomKey key;
    std::uint32_t threshold;
    float scale;
    ATTN_BOTH constexpr float operator()(std::uint32_t j) const { return random_bits(key, j) < threshold ? 0.0f : scale; }
  };
  /// The factors of row i.
  ATTN_BOTH constexpr Row row(Index i) const {
    return {derive(key, static_cast<std::uint64_t>(i)),
            static_cast<std::uint32_t>(static_cast<double>(rate) * 4294967296.0), scale()};
  }
};

/// dropout: y = dropout(x); x and y may be the same matrix. Its own gradient: dx = dropout(dy) with the same mask.
template <class Device>
struct DropoutArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;  // rows x width
  Sink<Scalar> y;          // rows x width
  Dropout dropout;
};

template <class Device>
void dropout(Device&, const DropoutArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
