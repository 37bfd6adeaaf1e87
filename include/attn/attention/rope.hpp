#pragma once
#include "attn/attention/policy.hpp"
#include "attn/tape/rotary.hpp"

namespace attn {

/// Full self-attention with rotary positions: queries and keys are rotated, so scores depend on relative positions only. Use
/// it with NoPositions. Su et al. 2021.
struct Rope : Full<> {
  using DecoderSelf = Rope;

  template <class Device, int Width, int Heads>
  struct QueryKey {
    AttentionShape shape;

    explicit QueryKey(const AttentionShape& of) : shape(of) {}
    Variable<Device> query(Variable<Device> q, Ragged rows, FirstPositions first) const {
      return rotary(q, rows, shape.heads, first, shape.rope_base);
    }
    Variable<Device> key(Variable<Device> k, Ragged rows, FirstPositions first) const {
      return rotary(k, rows, shape.kv_heads(), first, shape.rope_base);
    }
    void for_each_parameter(auto&&) {}
  };
};

}  // namespace attn
