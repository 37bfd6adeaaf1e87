#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/nn/positions.hpp"

namespace attn {

/// y = dropout(scale * table[token] + position). The policy defines the position vectors and the scale. Vaswani et al. 2017,
/// sections 3.4 and 3.5. torch.nn.Embedding, times the scale, plus the position.
template <class Device, int Width = dynamic, class Positions = Sinusoidal>
struct Embedding {
  static_assert(PositionPolicySaysScale<Positions>, "attn: a position policy needs  static double word_scale(int width)");
  static_assert(
      PositionPolicyHasLayer<Positions, Device, Width>,
      "attn: a position policy needs  Layer<Device, Width>  with  PositionVectors operator()(Tape&, Index) const");

  using PositionLayer = typename Positions::template Layer<Device, Width>;

  Parameter<Device> table;
  PositionLayer positions;
  float dropout = 0;

  explicit Embedding(Index vocabulary, float rate = 0) requires(Width != dynamic) : Embedding(vocabulary, Width, rate) {}
  Embedding(Index vocabulary, Size<Width> width, float rate = 0)
      : table{vocabulary_size(vocabulary), width, Initializer::normal(1 / std::sqrt(static_cast<double>(int(width))))},
        positions(construct<PositionLayer>(width)),
        dropout(rate) {}

  /// `first`: the position of each sentence's first token. Decoding passes the number of tokens so far.
  Variable<Device, Width> operator()(Tape<Device>& tape, const Text& text, FirstPositions first = {}) const {
    require(text.smallest >= 0 && text.largest < table.rows, "embedding: token ",
            text.smallest < 0 ? text.smallest : text.largest, " is not in a vocabulary of ", table.rows,
            "; was the text encoded with another tokenizer?");
    const auto vectors = positions(tape, first.most + text.rows.longest);
    return output_of<Device, Width>(
        "Embedding",
        attn::embedding(tape, text, table, Positions::word_scale(static_cast<int>(table.cols)), vectors, first, dropout));
  }

  void for_each_parameter(auto&& visit) {
    visit("table", table);
    visit("positions", positions);
  }
};

/// y = dropout(table[token]), without positions, for recurrent layers. torch.nn.Embedding.
template <class Device, int Width = dynamic>
struct WordEmbedding : Embedding<Device, Width, NoPositions> {
  explicit WordEmbedding(Index vocabulary, float rate = 0) requires(Width != dynamic)
      : WordEmbedding(vocabulary, Width, rate) {}
  WordEmbedding(Index vocabulary, Size<Width> width, float rate = 0)
      : Embedding<Device, Width, NoPositions>(vocabulary, width, rate) {
    this->table.initial = Initializer::normal(1);
  }

  Variable<Device, Width> operator()(Tape<Device>& tape, const Text& text) const {
    return output_of("WordEmbedding", Embedding<Device, Width, NoPositions>::operator()(tape, text));
  }
};

}  // namespace attn
