#pragma once
#include "attn/core/random.hpp"
#include "attn/ops/operands.hpp"

namespace attn {

/// Dropout of a matrix: element (i, j) becomes 0 with probability `rate`, else it is scaled by 1 / (1 - rate). The mask is
/// a pure function of (key, i, j), so forward and backward compute the same mask on every device and do not store it.
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
  /// The factors for row i.
  ATTN_BOTH constexpr Row row(Index i) const {
    return {derive(key, static_cast<std::uint64_t>(i)),
            static_cast<std::uint32_t>(static_cast<double>(rate) * 4294967296.0), scale()};
  }
};

/// dropout: y = dropout(x); x and y may be the same matrix. It is its own gradient: dx = dropout(dy) with the same mask.
template <class Device>
struct DropoutArgs {
  InputOf<Device> x;  // rows x width
  SinkOf<Device> y;   // rows x width
  Dropout dropout;
};

}  // namespace attn
