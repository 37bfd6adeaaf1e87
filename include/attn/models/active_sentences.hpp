#pragma once
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "attn/models/placed_rows.hpp"
#include "attn/nn/output_rows.hpp"

namespace attn {

/// The sentences that a decoder is working on. Every model's decoding state derives from it.
template <class Device>
class ActiveSentences : public PlacedRows<Device> {
 public:
  using PlacedRows<Device>::PlacedRows;
  using PlacedRows<Device>::active;

  OutputRows<Device> choices;  // the tokens that may be chosen

  /// Appends one token to each active row, and returns the tokens as a text.
  Text advance(Tape<Device>& tape, const std::vector<Token>& tokens) {
    if (graph_text_) return *graph_text_;
    require(length_ < this->room_, "decoding: a translation exceeded its reserved ", this->room_,
            " tokens. Raise the limit.");
    this->place_rows(tape, tokens, this->lists_positions_);
    ++length_;
    return text_of(tape, tokens, tape.upload(tokens.data(), static_cast<Index>(tokens.size())));
  }

  /// A fixed set of rows for CUDA-graph replay. All step inputs live on the device, in memory of the tape, and are updated
  /// there (ops/decoding.hpp). Until end_graph(), advance() ignores its tokens and uploads nothing.
  struct GraphRows {
    Token* tokens = nullptr;           // input of the next step
    std::int32_t* counters = nullptr;  // each step must add 1
    Index counter_count = 0;
  };
  GraphRows begin_graph(Tape<Device>& tape, const std::vector<Token>& tokens) {
    std::int32_t* const counters = this->place_rows(tape, tokens, false);
    require(rows_.copies.empty(), "decoding: a CUDA graph does not support repeated rows");
    return {upload_tokens(tape, tokens), counters, 3 * static_cast<Index>(tokens.size())};
  }
  /// Ends the replay after this number of steps. Rows may change again.
  void end_graph(Index steps) {
    length_ += steps;
    graph_text_ = {};
  }

  /// The same for beam search, where hypotheses move between the rows of their sentence. A table lists the cache rows of
  /// each hypothesis, so nothing is copied (ops/decoding.hpp). Only for caches read by single-query attention. Rows may
  /// repeat at the first begin_beam_graph(). Afterwards they can be dropped and begun again, but not advanced.
  struct BeamGraphRows {
    Token* tokens = nullptr;
    Matrix<std::int32_t> table;  // rows x capacity
    std::int32_t *newest = nullptr, *ends = nullptr, *positions = nullptr;
  };
  BeamGraphRows begin_beam_graph(Tape<Device>& tape, const std::vector<Token>& tokens) {
    const auto count = static_cast<Index>(active().size());
    std::int32_t* const counters = this->place_rows(tape, tokens, true);
    return {upload_tokens(tape, tokens),
            {counters + 3 * count, count, layout_.capacity},
            counters,
            counters + count,
            counters + 2 * count};
  }
  void end_beam_graph(Device& device, Index steps) {
    rows_.listed.resize(active().size() * static_cast<std::size_t>(layout_.capacity));
    device.download(rows_.listed.data(), layout_.rows.row_indices, static_cast<Index>(rows_.listed.size()));
    end_graph(steps);
  }

 private:
  using PlacedRows<Device>::rows_;
  using PlacedRows<Device>::layout_;
  using PlacedRows<Device>::length_;

  /// Uploads the first input of rows that the device updates.
  Token* upload_tokens(Tape<Device>& tape, const std::vector<Token>& tokens) {
    const auto count = static_cast<Index>(active().size());
    layout_.rows.longest = layout_.capacity;  // enough for every step
    layout_.rows.rows = count * layout_.capacity;
    layout_.positions.most = layout_.capacity - 1;
    Token* const on_device = tape.upload(tokens.data(), count);
    graph_text_ = text_of(tape, tokens, on_device);
    return on_device;
  }
  static Text text_of(Tape<Device>& tape, const std::vector<Token>& tokens, const Token* on_device) {
    const auto count = static_cast<Index>(tokens.size());
    Text text;
    text.tokens = on_device;
    for (const Token token : tokens)
      text.smallest = std::min(text.smallest, token), text.largest = std::max(text.largest, token);
    auto* offsets = tape.device.tape_nodes.template array<std::int32_t>(count + 1);
    std::iota(offsets, offsets + count + 1, 0);
    text.rows = upload_offsets(tape, offsets, count);
    text.offsets = offsets;
    return text;
  }

  std::optional<Text> graph_text_;
};

}  // namespace attn
