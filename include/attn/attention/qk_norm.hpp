#pragma once
#include "attn/attention/policy.hpp"
#include "attn/nn/rms_norm.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/reshape.hpp"

namespace attn {

/// Full self-attention that normalises the queries and keys of each head, so that scores stay bounded. Henry et al. 2020;
/// with RMSNorm as in Gemma and Qwen.
struct QkNorm : Full<> {
  using DecoderSelf = QkNorm;

  template <class Device, int Width, int Heads>
  struct QueryKey {
    RmsNorm<Device> of_query, of_key;

    explicit QueryKey(const AttentionShape& shape)
        : of_query(shape.width / shape.heads), of_key(shape.width / shape.heads) {}
    Variable<Device> query(Variable<Device> q, Ragged, FirstPositions) const { return by_heads(of_query, q); }
    Variable<Device> key(Variable<Device> k, Ragged, FirstPositions) const { return by_heads(of_key, k); }

    void for_each_parameter(auto&& visit) {
      visit("query", of_query);
      visit("key", of_key);
    }

   private:
    static Variable<Device> by_heads(const RmsNorm<Device>& norm, Variable<Device> x) {
      const Index width = norm.gain.rows;
      return reshape(norm(reshape(x, x.rows() * x.cols() / width, width)), x.rows(), x.cols());
    }
  };
};

}  // namespace attn
