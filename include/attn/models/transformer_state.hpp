#pragma once
#include <vector>

#include "attn/models/active_sentences.hpp"

namespace attn {

/// The decoding state of a Transformer: the keys and values of the source, computed once, and of the tokens so far. It lives
/// in memory of the tape it was made on.
template <class Device>
class TransformerState : public ActiveSentences<Device> {
 public:
  /// memories: the source's keys and values for each decoder layer.
  TransformerState(Tape<Device>& tape, const std::vector<KeysValues<Device>>& memories, Index capacity, Index hypotheses)
      : ActiveSentences<Device>(tape, rows_of(memories), capacity, hypotheses), memories_(memories) {
    for (const auto& memory : memories) past_.emplace_back(tape, this->layout(), memory.keys.cols(), memory.keys.cols());
  }

  /// What a layer attends to in the step that advance() started: the source, and the tokens so far.
  KeysValues<Device> memory(std::size_t layer) const {
    return {memories_[layer].keys, memories_[layer].values, this->source(layer)};
  }
  KeyValueCache<Device>* past(std::size_t layer) { return &past_[layer]; }

 private:
  static std::vector<Ragged> rows_of(const std::vector<KeysValues<Device>>& memories) {
    std::vector<Ragged> rows;
    for (const auto& memory : memories) rows.push_back(memory.rows);
    return rows;
  }

  std::vector<KeysValues<Device>> memories_;
  std::vector<KeyValueCache<Device>> past_;
};

}  // namespace attn
