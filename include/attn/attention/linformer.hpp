#pragma once
#include "attn/attention/policy.hpp"
#include "attn/tape/ragged_projection.hpp"

namespace attn {

/// Which of the Linformer's projections are one and the same. Each also shares what stands before it.
enum class Sharing {
  none,       // every head has an E and an F
  heads,      // the heads of a layer share them
  key_value,  // and E = F
  layers      // and all layers of a stack share that one
};

/// Looks at K keys and values, each a learned mixture of all N positions: softmax(Q (E K)ᵀ / sqrt d) (F V), with E and F of
/// K x N. Sentences shorter than N use the first columns; longer ones are an error. A mixture holds the future, so no
/// decoder may look at its own past through it. Wang et al. 2020.
template <int K, int N = 256, Sharing S = Sharing::heads, class ScorePolicy = ScaledDot>
struct Linformer {
  static_assert(K > 0 && N > 0, "attn: Linformer: k and n must be positive");
  using Score = ScorePolicy;
  static constexpr int k = K;
  static constexpr bool causal_allowed = false;

  template <class Device, int Width, int Heads>
  struct LengthProjection {
    static constexpr int kBlocks = S == Sharing::none ? Heads : 1;
    static constexpr bool kOne = S == Sharing::key_value || S == Sharing::layers;  // E = F

    Parameter<Device> keys{kBlocks * K, N, Initial::normal(1 / std::sqrt(static_cast<double>(N)))};    // E
    Parameter<Device> values{kBlocks * K, N, Initial::normal(1 / std::sqrt(static_cast<double>(N)))};  // F

    KeysValues<Device, Width> operator()(Tape<Device>& tape, KeysValues<Device, Width> all) const {
      return {ragged_projection(tape, all.keys, all.rows, keys, kBlocks),
              ragged_projection(tape, all.values, all.rows, kOne ? keys : values, kBlocks), uniform(tape, all.rows.count)};
    }

    void for_each_parameter(auto&& visit) {
      visit("keys", keys);
      if constexpr (!kOne) visit("values", values);
    }
    void share(auto&& visit, LengthProjection& first) requires(S == Sharing::layers) { visit.tie(keys, first.keys); }

   private:
    /// The layout of `count` sentences of K rows each.
    static Ragged uniform(Tape<Device>& tape, Index count) {
      auto* offsets = tape.device.tape_nodes.template array<std::int32_t>(count + 1);
      for (Index i = 0; i <= count; ++i) offsets[i] = static_cast<std::int32_t>(i * K);
      const std::int32_t* copy = tape.upload(offsets, count + 1);
      return {.begin = copy, .end = copy + 1, .count = count, .rows = count * K, .longest = K, .offsets_on_host = offsets};
    }
  };
};

}  // namespace attn
