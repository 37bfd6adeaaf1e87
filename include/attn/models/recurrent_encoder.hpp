#pragma once
#include "attn/models/recurrent_shape.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/lstm.hpp"

namespace attn {

/// An encoder's results: the embeddings, the states above them, and the last states of each sentence.
template <class Device, RecurrentShape Shape>
struct Encoded {
  Variable<Device, Shape.embedding> embedded;
  Variable<Device, Shape.width> states;
  LstmStates<Device, Shape.width> last;
};

// Encoder policies: the directions of the LSTMs and their initial states. A policy has Encoder<Device, Shape>, which is
// constructed from the size of the vocabulary, the shape and the dropout rates.

/// A stack of LSTMs, by default with initial states 0. Layer selects one direction, or two of half the width each.
template <template <class, int, int> class Layer>
struct Reading {
  template <class Device, RecurrentShape Shape>
  struct Encoder {
    using States = LstmStates<Device, Shape.width>;

    WordEmbedding<Device, Shape.embedding> embedding;
    LstmStack<Device, Shape.embedding, Shape.width, Shape.encoder_layers, Layer> lstm;
    float dropout = 0;

    Encoder(Index vocabulary, const RecurrentShape& shape, const RecurrentDropout& rates)
        : embedding(vocabulary, shape.embedding, rates.embedding),
          lstm(shape.embedding, shape.width, shape.encoder_layers, rates.states),
          dropout(rates.states) {}

    Encoded<Device, Shape> operator()(Tape<Device>& tape, const Text& text, const States& initial = {}) const {
      const auto embedded = embedding(tape, text);
      const auto [h, last] = lstm(embedded, time_major(tape, text.rows, text.offsets), initial);
      return {embedded, attn::dropout(h, dropout), last};
    }

    void for_each_parameter(auto&& visit) {
      visit("embedding", embedding);
      visit("lstm", lstm);
    }
  };
};
using OneWay = Reading<Lstm>;
using BothWays = Reading<BidirectionalLstm>;

/// Bidirectional, each direction with the full width and learned initial states. Outputs, last h and last c are each
/// projected to the width. Chittersu, section 3.1.
struct BothWaysProjected {
  static constexpr RecurrentShape both(RecurrentShape shape) {
    shape.width = total(shape.width, shape.width);
    return shape;
  }

  template <class Device, RecurrentShape Shape>
  struct Encoder : BothWays::Encoder<Device, both(Shape)> {
    using Base = BothWays::Encoder<Device, both(Shape)>;

    LearnedStates<Device, both(Shape).width, Shape.encoder_layers> initial;
    Projection<Device, both(Shape).width, Shape.width> outputs, hidden, cell;

    Encoder(Index vocabulary, const RecurrentShape& shape, const RecurrentDropout& rates)
        : Base(vocabulary, both(shape), rates),
          initial(2 * shape.width, shape.encoder_layers),
          outputs(2 * shape.width, shape.width),
          hidden(outputs),
          cell(outputs) {}

    Encoded<Device, Shape> operator()(Tape<Device>& tape, const Text& text) const {
      const auto [embedded, h, last] = Base::operator()(tape, text, initial(tape, text.rows.count));
      const Encoded<Device, Shape> result{embedded, outputs(h), empty_states<Shape.width>(tape, last.size())};
      for (std::size_t i = 0; i < last.size(); ++i) result.last[i] = {hidden(last[i].h), cell(last[i].c)};
      return result;
    }

    void for_each_parameter(auto&& visit) {
      visit("embedding", this->embedding);
      visit("initial", initial);
      visit("lstm", this->lstm);
      visit("outputs", outputs);
      visit("hidden", hidden);
      visit("cell", cell);
    }
  };
};

}  // namespace attn
