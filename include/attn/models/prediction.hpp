#pragma once
#include "attn/nn/linear.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/columns.hpp"

namespace attn {

// Prediction policies: what a recurrent model's output layer reads besides the decoder's states and contexts.

struct FromStates {
  static constexpr bool uses_embeddings = false;
};

/// The source embeddings, averaged by the attention weights: f = tanh(sum of aₛ eₛ), h = tanh(W f) + f. The output layer
/// reads the state and h through one matrix and one bias, which equals adding the logits of two layers. Nguyen and Chiang
/// 2018, section 4.
struct Lexical {
  static constexpr bool uses_embeddings = true;
};

template <class Device, int Embedding>
struct LexicalLayer {
  Projection<Device, Embedding, Embedding> hidden;  // W

  explicit LexicalLayer(Size<Embedding> embedding) : hidden(embedding, embedding) {}

  /// average: each row's average of the source embeddings.
  Variable<Device, Embedding> operator()(Variable<Device, Embedding> average) const {
    const Variable<Device, Embedding> f = tanh(average);
    return tanh(hidden(f)) + f;
  }

  void for_each_parameter(auto&& visit) { visit("hidden", hidden); }
};

/// The memory that attention averages: if Prediction::uses_embeddings, source embeddings are appended to its values.
template <class Prediction, class Device, int Width, int Value, int Embedding>
auto averaged(KeysValues<Device, Width, Value> memory, [[maybe_unused]] Variable<Device, Embedding> embedded) {
  if constexpr (Prediction::uses_embeddings)
    return KeysValues<Device, Width, total(Value, Embedding)>{memory.keys, concat(memory.values, embedded), memory.rows};
  else
    return memory;
}

}  // namespace attn
