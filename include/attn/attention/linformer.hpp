#pragma once
#include "attn/attention/policy.hpp"
#include "attn/tape/ragged_product.hpp"

namespace attn {

/// The projections that a Linformer shares. Each option includes those before it.
enum class Sharing {
  none,       // every head has its own E and F
  heads,      // the heads of a layer share them
  key_value,  // and E = F
  layers      // and all layers of a stack share it
};

/// Attends to k keys and values, each a learned mixture of all n positions: softmax(Q (E K)ᵀ / sqrt d) (F V), with E and F
/// of k x n. Sentences shorter than n use the first columns; longer ones are an error. A mixture contains future positions,
/// so it cannot be causal. Wang et al. 2020. With `dynamic` sizes, k and n come from the model's shape.
template <int K = dynamic, int N = K == dynamic ? dynamic : 256, Sharing S = Sharing::heads, class ScorePolicy = ScaledDot>
struct Linformer {
  static_assert((K > 0 || K == dynamic) && (N > 0 || N == dynamic), "attn: Linformer: k and n must be positive");
  using Score = ScorePolicy;
  static constexpr int k = K;
  static constexpr bool causal_allowed = false;

  template <class Device, int Width, int Heads>
  struct LengthProjection {
    static constexpr bool kOne = S == Sharing::key_value || S == Sharing::layers;  // E = F

    int blocks;
    Parameter<Device> keys, values;  // E and F: blocks * k x n

    explicit LengthProjection(const AttentionShape& shape)
        : blocks(S == Sharing::none ? shape.heads : 1), keys(weights(shape, blocks)), values(keys) {}

    KeysValues<Device> operator()(KeysValues<Device> all) const {
      return {ragged_projection(all.keys, all.rows, keys, blocks),
              ragged_projection(all.values, all.rows, kOne ? keys : values, blocks),
              uniform(all.keys.tape(), all.rows.count, keys.rows / blocks)};
    }

    void for_each_parameter(auto&& visit) {
      visit("keys", keys);
      if constexpr (!kOne) visit("values", values);
    }
    void share(auto&& visit, LengthProjection& first) requires(S == Sharing::layers) { visit.tie(keys, first.keys); }

   private:
    static Parameter<Device> weights(const AttentionShape& shape, int blocks) {
      const Index k = size(K, shape.linformer_k, "k"), n = size(N, shape.linformer_n, "n");
      return {blocks * k, n, Initializer::normal(1 / std::sqrt(static_cast<double>(n)))};
    }
    static Index size(int of_type, int of_shape, const char* name) {
      require(of_type != dynamic || of_shape > 0, "Linformer: its ", name,
              " is set neither in its type nor in the model's shape. Write Linformer<32>, or set linformer_", name, ".");
      return of_type != dynamic ? of_type : of_shape;
    }
    /// The layout of `count` sentences of `rows` rows each.
    static Ragged uniform(Tape<Device>& tape, Index count, Index rows) {
      auto* offsets = tape.device.tape_nodes.template array<std::int32_t>(count + 1);
      for (Index i = 0; i <= count; ++i) offsets[i] = static_cast<std::int32_t>(i * rows);
      const std::int32_t* copy = tape.upload(offsets, count + 1);
      Ragged layout{copy, copy + 1, count, count * rows, rows};
      layout.offsets_on_host = offsets;
      return layout;
    }
  };
};

}  // namespace attn
