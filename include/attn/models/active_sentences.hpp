#pragma once
#include "attn/attention/multi_head.hpp"
#include "attn/models/active_rows.hpp"
#include "attn/nn/output.hpp"

namespace attn {

/// The sentences that a decoder is working on, and where their states, caches and sources are. Every model's decoding state
/// derives from it. Select rows before each step: drop finished sentences, and repeat rows that several hypotheses continue.
/// Sources are never copied. Caches are copied only for repeated rows, and not at all after list_positions().
template <class Device>
class ActiveSentences {
 public:
  /// Starts with one row per sentence. sources[i]: the rows of layer i's source, such as its keys. Reserves `capacity`
  /// tokens for each of `hypotheses` rows per sentence. earlier[s]: the tokens that sentence s of a language model
  /// continues. They count towards the capacity, but not towards length().
  ActiveSentences(Tape<Device>& tape, std::span<const Ragged> sources, Index capacity, Index hypotheses = 1,
                  std::vector<std::int32_t> earlier = {})
      : rows_(sources[0].count, sources[0].count * hypotheses), room_(capacity), earlier_(std::move(earlier)) {
    require(hypotheses > 0, "decoding: hypotheses is ", hypotheses, ", but must be at least 1");
    layout_.places = sources[0].count * hypotheses;
    require(capacity <= std::numeric_limits<std::int32_t>::max() / std::max<Index>(layout_.places, 1),
            "decoding: ", capacity, " tokens of ", layout_.places, " hypotheses are too many. Lower the limit.");
    layout_.capacity = capacity;
    earlier_.resize(active().size());
    for (const std::int32_t count : earlier_) room_ = std::min<Index>(room_, capacity - count);
    for (const Ragged& rows : sources) sources_.add(tape.device, rows);
  }
  ActiveSentences(const ActiveSentences&) = delete;  // caches point to the layout

  const std::vector<Index>& active() const { return rows_.sentences; }  // the sentence of each active row
  Index length() const { return length_; }                              // tokens so far

  /// New row i continues active row rows[i]. Rows may be repeated, reordered and dropped.
  void select(std::span<const Index> rows) { rows_.select(rows); }

  void keep(const std::vector<bool>& keep) {
    require(keep.size() == active().size(), "decoding: keep has ", keep.size(), " entries for ", active().size(), " rows");
    kept_.clear();
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) kept_.push_back(static_cast<Index>(i));
    select(kept_);
  }

  OutputRows<Device> choices;  // the tokens that may be chosen

  /// From now on a table lists the cache rows of each row's positions, so repeated rows need no copies. Only for caches read
  /// by single-query attention, with at most `hypotheses` rows per sentence. Call it before the first token.
  void list_positions() { lists_positions_ = true; }

  /// Appends the `earlier` tokens of all sentences, packed, in one pass.
  void advance_to_first(Tape<Device>& tape) {
    const auto count = static_cast<Index>(earlier_.size());
    const auto place = [&](std::size_t i) { return static_cast<std::int32_t>(static_cast<Index>(i) * layout_.capacity); };
    lists_.clear();
    for (const bool end : {false, true})
      for (std::size_t i = 0; i < earlier_.size(); ++i) lists_.push_back(place(i) + (end ? earlier_[i] : 0));
    for (std::size_t i = 0; i < earlier_.size(); ++i)
      for (std::int32_t token = 0; token < earlier_[i]; ++token) lists_.push_back(place(i) + token);
    const std::int32_t* all = tape.upload(lists_.data(), static_cast<Index>(lists_.size()));
    layout_.rows = {all, all + count, count};
    layout_.positions = {};
    for (const std::int32_t earlier : earlier_) {
      layout_.rows.rows += earlier;
      layout_.rows.longest = std::max<Index>(layout_.rows.longest, earlier);
    }
    layout_.newest = all + 2 * count;
  }

  // Device locations for the current step:
  const CacheLayout& layout() const { return layout_; }
  Ragged source(std::size_t i = 0) const { return sources_[i]; }  // of the active rows
  /// The places of the states that each active row reads; null: the first places, in order.
  const std::int32_t* read_places() const { return read_places_; }
  const std::int32_t* places() const { return device_places_; }   // of the states that it writes
  FirstPositions positions() const { return layout_.positions; }  // of each active row's newest token

  /// Appends one token to each active row, and returns the tokens as a text.
  Text advance(Tape<Device>& tape, const std::vector<Token>& tokens) {
    if (graph_text_) return *graph_text_;
    require(length_ < room_, "decoding: a translation exceeded its reserved ", room_, " tokens. Raise the limit.");
    place_rows(tape, tokens, lists_positions_);
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
    std::int32_t* const counters = place_rows(tape, tokens, false);
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
    std::int32_t* const counters = place_rows(tape, tokens, true);
    const Matrix<std::int32_t> table(counters + 3 * count, count, layout_.capacity);
    return {upload_tokens(tape, tokens), table, counters, counters + count, counters + 2 * count};
  }
  void end_beam_graph(Device& device, Index steps) {
    rows_.listed.resize(active().size() * static_cast<std::size_t>(layout_.capacity));
    device.download(rows_.listed.data(), layout_.rows.row_indices, static_cast<Index>(rows_.listed.size()));
    end_graph(steps);
  }

 private:
  /// Places the next token of each active row, one of `tokens`, and uploads the rows that it sees. Returns the newest rows,
  /// the ends and the positions, one number per row each. With `listed`, the table follows.
  std::int32_t* place_rows(Tape<Device>& tape, const std::vector<Token>& tokens, bool listed) {
    const auto count = static_cast<Index>(active().size());
    require(static_cast<Index>(tokens.size()) == count, "decoding: ", tokens.size(), " tokens for ", count, " sentences");
    rows_.find_places();
    require(rows_.listed.empty() || lists_positions_ || (listed && rows_.copies.empty()),
            "decoding: after end_beam_graph, pass the same rows to begin_beam_graph, each once");
    lists_.clear();  // collects everything below for one upload
    const Index capacity = layout_.capacity, written = length_;
    const auto filled = [&](std::size_t row) { return earlier_[static_cast<std::size_t>(active()[row])] + written; };
    const auto list_rows = [&](auto&& number) {
      const std::size_t first = lists_.size();
      for (std::size_t row = 0; row < rows_.places.size(); ++row)
        lists_.push_back(static_cast<std::int32_t>(number(row, rows_.places[row] * capacity)));
      return first;
    };
    const auto first_of = [&](std::size_t row, Index place) { return listed ? static_cast<Index>(row) * capacity : place; };
    const std::size_t begin = list_rows(first_of),
                      newest = list_rows([&](std::size_t row, Index place) { return place + filled(row); }),
                      end = list_rows([&](std::size_t row, Index place) { return first_of(row, place) + filled(row) + 1; }),
                      positions = list_rows([&](std::size_t row, Index) { return filled(row); }), table = lists_.size();
    for (std::size_t row = 0; row < rows_.places.size() && listed; ++row)
      for (Index t = 0; t < capacity; ++t)
        if (t < filled(row) && !rows_.listed.empty())
          lists_.push_back(rows_.listed[row * static_cast<std::size_t>(capacity) + static_cast<std::size_t>(t)]);
        else
          lists_.push_back(static_cast<std::int32_t>((t < filled(row) ? rows_.origins : rows_.places)[row] * capacity + t));
    if (lists_positions_) rows_.listed.assign(lists_.begin() + static_cast<std::ptrdiff_t>(table), lists_.end());
    const auto list = [&](const auto& numbers) { return list_rows([&](std::size_t row, Index) { return numbers[row]; }); };
    const std::size_t places = list(rows_.places), origins = rows_.copies.empty() ? places : list(rows_.origins),
                      sources = lists_.size();
    sources_.list(active(), lists_);
    const auto copied = [&](const std::vector<std::int32_t>& from) {  // all rows of each copy
      const std::size_t first = lists_.size();
      for (const std::int32_t i : rows_.copies)
        for (Index t = 0; t < filled(static_cast<std::size_t>(i)); ++t)
          lists_.push_back(static_cast<std::int32_t>(from[static_cast<std::size_t>(i)] * capacity + t));
      return first;
    };
    const std::size_t copy_from = listed ? 0 : copied(rows_.origins), copy_to = listed ? 0 : copied(rows_.places);

    std::int32_t* all = tape.upload(lists_.data(), static_cast<Index>(lists_.size()));
    layout_.rows = {all + begin, all + end, count};
    if (listed) layout_.rows.row_indices = all + table;
    layout_.positions = {0, all + positions};
    for (std::size_t row = 0; row < rows_.places.size(); ++row) {
      layout_.rows.rows += filled(row) + 1;
      layout_.rows.longest = std::max(layout_.rows.longest, filled(row) + 1);
      layout_.positions.most = std::max(layout_.positions.most, filled(row));
    }
    layout_.newest = all + newest;
    layout_.copies = static_cast<Index>(copy_to - copy_from);
    layout_.copy_from = all + copy_from;
    layout_.copy_to = all + copy_to;
    device_places_ = all + places;
    read_places_ = rows_.in_order() ? nullptr : all + origins;
    sources_.place(active(), all + sources);
    rows_.origins = rows_.places;
    return all + newest;
  }

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
    text.include(tokens);
    auto* offsets = tape.device.tape_nodes.template array<std::int32_t>(count + 1);
    std::iota(offsets, offsets + count + 1, 0);
    text.rows = upload_offsets(tape, offsets, count);
    text.offsets = offsets;
    return text;
  }

  ActiveRows rows_;
  CacheLayout layout_;
  DecoderSources sources_;
  Index length_ = 0, room_ = 0;  // tokens of each sentence: so far, maximum
  bool lists_positions_ = false;
  const std::int32_t *read_places_ = nullptr, *device_places_ = nullptr;
  std::vector<std::int32_t> earlier_;  // tokens that each sentence continues
  std::optional<Text> graph_text_;
  // Reused, so that steps do not allocate:
  std::vector<Index> kept_;
  std::vector<std::int32_t> lists_;
};

}  // namespace attn
