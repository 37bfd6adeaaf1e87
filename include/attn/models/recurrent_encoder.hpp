#pragma once
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/lstm.hpp"

namespace attn {

/// The sizes of a recurrent model, as a template argument: columns of a word's embedding and of a state, layers.
struct RecurrentShape {
  int words = 128, width = 64;
  int encoder_layers = 2, decoder_layers = 2;
};

/// Dropout rates: of embeddings, of the encoder's states and between layers, of what attention gives.
struct RecurrentDropout {
  float words = 0, states = 0, attention = 0;
};

/// What an encoder makes of a text: its words, the states above them, and the states after each sentence's end.
template <class Device, RecurrentShape Shape>
struct Encoded {
  Variable<Device, Shape.words> words;
  Variable<Device, Shape.width> states;
  std::array<LstmState<Device, Shape.width>, Shape.encoder_layers> last;
};

// Encoder policies: how a text is read.

/// Layers of LSTMs that start with 0; Layer says whether they read in one direction or in both, half of the width each.
template <template <class, int, int> class Layer>
struct Reading {
  template <class Device, RecurrentShape Shape>
  struct Encoder {
    WordEmbedding<Device, Shape.words> embedding;
    LstmStack<Device, Shape.words, Shape.width, Shape.encoder_layers, Layer> lstm;
    float dropout = 0;

    Encoder(Index vocabulary, const RecurrentDropout& rates)
        : embedding(vocabulary, rates.words), lstm(rates.states), dropout(rates.states) {}

    Encoded<Device, Shape> operator()(Tape<Device>& tape, const Text& text) const {
      const auto words = embedding(tape, text);
      const auto [h, last] = lstm(words, time_major(tape, text.rows, text.offsets));
      return {words, attn::dropout(h, dropout), last};
    }

    void for_each_parameter(auto&& visit) {
      visit("embedding", embedding);
      visit("lstm", lstm);
    }
  };
};
using OneWay = Reading<Lstm>;
using BothWays = Reading<BidirectionalLstm>;

/// Both ways with the full width each, from states that are learned; what both give is projected to the width, with a
/// matrix for the outputs, one for the last h and one for the last c. Chittersu, section 3.1.
struct BothWaysProjected {
  template <class Device, RecurrentShape Shape>
  struct Encoder {
    static constexpr int kBoth = 2 * Shape.width;

    WordEmbedding<Device, Shape.words> embedding;
    LearnedStates<Device, kBoth, Shape.encoder_layers> initial;
    LstmStack<Device, Shape.words, kBoth, Shape.encoder_layers, BidirectionalLstm> lstm;
    Projection<Device, kBoth, Shape.width> outputs, hidden, cell;
    float dropout = 0;

    Encoder(Index vocabulary, const RecurrentDropout& rates)
        : embedding(vocabulary, rates.words), lstm(rates.states), dropout(rates.states) {}

    Encoded<Device, Shape> operator()(Tape<Device>& tape, const Text& text) const {
      const auto words = embedding(tape, text);
      const auto [h, last] = lstm(words, time_major(tape, text.rows, text.offsets), initial(tape, text.rows.count));
      Encoded<Device, Shape> result{words, outputs(attn::dropout(h, dropout)), {}};
      for (std::size_t i = 0; i < last.size(); ++i) result.last[i] = {hidden(last[i].h), cell(last[i].c)};
      return result;
    }

    void for_each_parameter(auto&& visit) {
      visit("embedding", embedding);
      visit("initial", initial);
      visit("lstm", lstm);
      visit("outputs", outputs);
      visit("hidden", hidden);
      visit("cell", cell);
    }
  };
};

}  // namespace attn
