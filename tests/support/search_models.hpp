#pragma once
#include "attn/decode/search.hpp"
#include "support/recurrent.hpp"

// Helpers for tests of search with models.

namespace attn_test {

using D = Cpu<double>;

inline constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 2, .width = 16, .heads = 2, .inner = 24};
inline constexpr RecurrentShape recurrent{.embedding = 6, .width = 6, .encoder_layers = 1, .decoder_layers = 1};

/// A model whose translations depend on the sentence.
template <class M>
struct Fixture {
  D device{1};
  M model{{.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords}};
  Parameters<D> parameters{device, model, 3};
  Sentences source = random_sentences({5, 1, 3, 8, 2, 4}, kSourceWords, 3);

  explicit Fixture(std::uint64_t seed = 5) { shake(parameters, 0.8, seed); }
};

inline const SearchOptions three{.begin = 2, .end = 3, .limit = 7, .beam = 3, .n_best = 3};

/// Checks for equal tokens, and equal numbers up to rounding.
inline void check_close(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].tokens == b[i].tokens);
    CHECK(a[i].complete == b[i].complete);
    CHECK(std::abs(a[i].log_probability - b[i].log_probability) < 1e-11);
    CHECK(std::abs(a[i].score - b[i].score) < 1e-11);
    CHECK(largest_difference(a[i].token_log_probabilities, b[i].token_log_probabilities) < 1e-11);
  }
}

}  // namespace attn_test
