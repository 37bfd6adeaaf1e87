#pragma once
#include "attn/nn/linear.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/columns.hpp"

namespace attn {

// Prediction policies: what a recurrent model's output sees beside the decoder's states and contexts.

/// Nothing.
struct FromStates {
  static constexpr bool sees_words = false;
};

/// The source's words, averaged as attention weighs them: f = tanh(sum of aₛ eₛ), h = tanh(W f) + f. The output layer sees h
/// beside the state; its weights and biases for both are one matrix and one vector, which is what adding two layers' logits
/// comes to. Nguyen and Chiang 2018, section 4.
struct Lexical {
  static constexpr bool sees_words = true;
};

template <class Device, int Words>
struct LexicalLayer {
  Projection<Device, Words, Words> hidden;  // W

  /// From each row's average of the source's embeddings.
  Variable<Device, Words> operator()(Variable<Device, Words> average) const {
    const Variable<Device, Words> f = tanh(average);
    return tanh(hidden(f)) + f;
  }

  void for_each_parameter(auto&& visit) { visit("hidden", hidden); }
};

/// What attention averages: a memory's values, and with them the source's words where the prediction sees these.
template <class Prediction, class Device, int Width, int Value, int Words>
auto averaged(KeysValues<Device, Width, Value> memory, [[maybe_unused]] Variable<Device, Words> words) {
  if constexpr (Prediction::sees_words)
    return KeysValues<Device, Width, Value + Words>{memory.keys, concat(memory.values, words), memory.rows};
  else
    return memory;
}

}  // namespace attn
