#pragma once
#include <cmath>

#include "attn/tape/embedding.hpp"

namespace attn {

inline void require_tokens(const Text& text, Index vocabulary) {
  require(text.smallest >= 0 && text.largest < vocabulary, "embedding: token ",
          text.smallest < 0 ? text.smallest : text.largest, " is not in a vocabulary of ", vocabulary,
          "; was the text encoded with another tokenizer?");
}

/// y = dropout(sqrt(width) * table[token] + position), with sinusoidal positions. Vaswani et al. 2017, sections 3.4
/// and 3.5. torch.nn.Embedding, times sqrt(width), plus the position.
template <class Device, int Width>
struct Embedding {
  static_assert(Width % 2 == 0, "attn: Embedding: sinusoidal positions come in pairs, so the width must be even");

  Parameter<Device> table;
  float dropout = 0;

  explicit Embedding(Index vocabulary, float rate = 0)
      : table{vocabulary, Width, Initial::normal(1 / std::sqrt(static_cast<double>(Width)))}, dropout(rate) {}

  /// The text's sentences start at position first_position; decoding passes how many tokens went before.
  Variable<Device, Width> operator()(Tape<Device>& tape, const Text& text, Index first_position = 0) const;

  void for_each_parameter(auto&& visit) { visit("table", table); }
};

/// y = dropout(table[token]): words alone, for recurrent layers, which need no positions. torch.nn.Embedding.
template <class Device, int Width>
struct WordEmbedding {
  static_assert(Width > 0, "attn: WordEmbedding: the width must be positive");

  Parameter<Device> table;
  float dropout = 0;

  explicit WordEmbedding(Index vocabulary, float rate = 0) : table{vocabulary, Width, Initial::normal(1)}, dropout(rate) {}

  Variable<Device, Width> operator()(Tape<Device>& tape, const Text& text) const {
    require_tokens(text, table.rows);
    return embedding<Width>(tape, text, table, 1, {}, 0, dropout);
  }

  void for_each_parameter(auto&& visit) { visit("table", table); }
};

template <class Device, int Width>
Variable<Device, Width> Embedding<Device, Width>::operator()(Tape<Device>& tape, const Text& text,
                                                             Index first_position) const {
  require_tokens(text, table.rows);
  const auto positions = tape.device.positions.get(tape.device, Width, first_position + text.rows.longest,
                                                   [](Device& device, auto numbers) { sinusoid(device, numbers); });
  const double scale = std::sqrt(static_cast<double>(Width));
  return embedding<Width>(tape, text, table, scale, positions, first_position, dropout);
}

}  // namespace attn
