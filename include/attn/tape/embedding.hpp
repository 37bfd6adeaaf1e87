#pragma once
#include "attn/ops/embedding.hpp"
#include "attn/tape/text.hpp"

namespace attn {

/// The position of each sentence's first row: one for all sentences, or one per sentence.
struct FirstPositions {
  Index most = 0;                      // the largest one
  const std::int32_t* each = nullptr;  // per sentence, on the device; nullptr: all at `most`

  FirstPositions(Index largest = 0, const std::int32_t* of_each = nullptr) : most(largest), each(of_each) {}
};

/// The vectors of positions 0, 1, 2, ..., and their gradients if they are learned.
template <class Device>
struct PositionVectors {
  Matrix<const typename Device::Scalar> values = {};
  Matrix<typename Device::Real> gradients = {};

  bool learns() const { return !gradients.empty(); }
};

/// dropout(scale * table[token] + position); a sentence's tokens have positions first, first + 1, ...
template <class Device>
Variable<Device> embedding(Tape<Device>& tape, const Text& text, Parameter<Device> table, double scale,
                           PositionVectors<Device> positions, FirstPositions first, float rate) {
  auto y = tape.result(text.rows.rows, table.cols, table, positions);
  const Dropout drop = tape.dropout(rate);
  embedding(tape.device, {.tokens = text.tokens,
                          .rows = text.rows,
                          .table = table.matrix(),
                          .positions = positions.values,
                          .first_position = first.most,
                          .first_positions = first.each,
                          .scale = scale,
                          .dropout = drop,
                          .y = y.value});
  const Token* places = nullptr;  // the position of each token in its sentence
  if (tape.recording() && !positions.gradients.empty()) {
    require(first.each == nullptr, "embedding: to train positions, all sentences must begin at the same position");
    auto* list = tape.device.tape_nodes.template array<Token>(text.rows.rows);
    for (Index s = 0; s < text.rows.count; ++s)
      std::iota(list + text.offsets[s], list + text.offsets[s + 1], static_cast<Token>(first.most));
    places = tape.upload(list, text.rows.rows);
  }
  tape.on_backward(y, [=, tokens = text.tokens](Tape<Device>& back, auto dy) {
    if (table.learns())
      embedding_gradient(back.device,
                         {.tokens = tokens, .dy = dy, .scale = scale, .dropout = drop, .dtable = table.gradient_matrix()});
    if (places != nullptr)  // an embedding too, with positions as tokens
      embedding_gradient(back.device, {.tokens = places, .dy = dy, .dropout = drop, .dtable = positions.gradients});
  });
  return y;
}

/// A parameter as an activation with its rows: a weight in a penalty, learned queries, prompts. Adds the gradient of the
/// activation to that of the parameter.
template <class Device>
Variable<Device> variable(Tape<Device>& tape, const Parameter<Device>& parameter) {
  std::vector<Token> rows(static_cast<std::size_t>(parameter.rows));
  std::iota(rows.begin(), rows.end(), 0);
  return embedding(tape, upload(tape, rows), parameter, 1, {}, {}, 0);  // row i is the embedding of token i
}

}  // namespace attn
