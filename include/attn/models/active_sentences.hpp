#pragma once
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attn/attention/cache.hpp"
#include "attn/models/active_rows.hpp"
#include "attn/models/decoder_sources.hpp"
#include "attn/nn/output_rows.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// The sentences that a decoder is writing, one row each: where their states, their caches and their sources are. Every
/// model's decoding state builds on it. Rows are selected before each step: those of sentences that have ended are left
/// out, those of several hypotheses of one sentence repeat. A source is never copied, and a cache only for a row that
/// repeats.
template <class Device>
class ActiveSentences {
 public:
  /// One row for each sentence. sources[i]: the rows of what the decoder looks at, such as those of layer i's keys; with
  /// room for `capacity` words of `hypotheses` rows for each sentence. A language model's sentences continue so many
  /// `earlier` words each, which count towards the capacity but not as words of its own.
  ActiveSentences(Tape<Device>& tape, std::span<const Ragged> sources, Index capacity, Index hypotheses = 1,
                  std::vector<std::int32_t> earlier = {});
  ActiveSentences(const ActiveSentences&) = delete;  // caches know where the layout is

  const std::vector<Index>& alive() const { return rows_.sentences; }  // the sentence of each active row
  Index length() const { return length_; }                             // words so far
  OutputRows<Device> choices;                                          // the words that are chosen among

  /// New row i continues the active row rows[i]: rows may repeat, change their order, and be left out.
  void select(std::span<const Index> rows) { rows_.select(rows); }

  /// Selects the rows for which keep[i], i counting the active ones, is true.
  void keep(const std::vector<bool>& keep) {
    require(keep.size() == alive().size(), "decoding: keep says ", keep.size(), " times whether to keep one of ",
            alive().size(), " rows");
    kept_.clear();
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) kept_.push_back(static_cast<Index>(i));
    select(kept_);
  }

  /// Makes room for one more word of each active row: the text of those words.
  Text advance(Tape<Device>& tape, const std::vector<Token>& words);

  /// Rows that stay as they are for some steps: everything a step needs is on the device, in memory of this tape, and grows there
  /// by itself (ops/take_words.hpp). advance() then takes no words, and uploads nothing.
  struct Held {
    Token* words = nullptr;            // what the next step reads
    std::int32_t* counters = nullptr;  // that a step must move on by 1
    Index counter_count = 0;
  };
  Held hold(Tape<Device>& tape, const std::vector<Token>& words);
  /// After so many steps the rows may change again.
  void let_go(Index steps) {
    length_ += steps;
    held_ = {};
  }

  /// The same of hypotheses that change among the rows of their sentence: a table lists where the positions of each lie, and
  /// nothing is copied (ops/beam_step.hpp). Only for caches that attention of one query looks at. Rows may repeat when they
  /// are held first; from then on they can be left out and held again, but not be advanced.
  struct HeldBeams {
    Token* words = nullptr;
    Matrix<std::int32_t> table;  // rows x capacity
    std::int32_t *newest = nullptr, *ends = nullptr, *positions = nullptr;
  };
  HeldBeams hold_beams(Tape<Device>& tape, const std::vector<Token>& words);
  void let_go_beams(Device& device, Index steps);

  /// Makes room for the earlier words of all sentences, packed, in one pass.
  void advance_to_first(Tape<Device>& tape);

  // Where everything is in the step that advance started, on the device:
  const CacheLayout& layout() const { return layout_; }
  Ragged source(std::size_t i = 0) const { return sources_[i]; }  // of the active rows
  /// Of the states that each active row continues; null: the first places, in their order.
  const std::int32_t* read_places() const { return read_places_; }
  const std::int32_t* places() const { return device_places_; }   // of the states that it writes
  FirstPositions positions() const { return layout_.positions; }  // of each active row's newest word

 private:
  std::int32_t* place_rows(Tape<Device>& tape, bool listed = false);
  Token* hold_words(Tape<Device>& tape, const std::vector<Token>& words);
  static Text text_of(Tape<Device>& tape, const std::vector<Token>& words, const Token* on_device);

  ActiveRows rows_;
  CacheLayout layout_;
  DecoderSources sources_;
  const std::int32_t *read_places_ = nullptr, *device_places_ = nullptr;
  Index length_ = 0, room_ = 0;        // words of each sentence: so far, and at most
  std::vector<std::int32_t> earlier_;  // words of each sentence before its own
  std::optional<Text> held_;
  // Kept so that a step takes nothing from the heap:
  std::vector<Index> kept_;
  std::vector<std::int32_t> lists_;
};

template <class Device>
ActiveSentences<Device>::ActiveSentences(Tape<Device>& tape, std::span<const Ragged> sources, Index capacity,
                                         Index hypotheses, std::vector<std::int32_t> earlier)
    : rows_(sources[0].count, sources[0].count * hypotheses), room_(capacity), earlier_(std::move(earlier)) {
  require(hypotheses > 0, "decoding: room for ", hypotheses, " hypotheses of a sentence; it needs one at least");
  layout_.places = sources[0].count * hypotheses;
  require(capacity <= std::numeric_limits<std::int32_t>::max() / std::max<Index>(layout_.places, 1), "decoding: room for ",
          capacity, " tokens of ", layout_.places, " hypotheses is more than can be counted; lower the limit");
  layout_.capacity = capacity;
  earlier_.resize(alive().size());
  for (const std::int32_t words : earlier_) room_ = std::min<Index>(room_, capacity - words);
  for (const Ragged& rows : sources) sources_.add(tape.device, rows);
}

template <class Device>
void ActiveSentences<Device>::advance_to_first(Tape<Device>& tape) {
  const auto count = static_cast<Index>(earlier_.size());
  const auto place = [&](std::size_t i) { return static_cast<std::int32_t>(static_cast<Index>(i) * layout_.capacity); };
  lists_.clear();
  for (std::size_t i = 0; i < earlier_.size(); ++i) lists_.push_back(place(i));
  for (std::size_t i = 0; i < earlier_.size(); ++i) lists_.push_back(place(i) + earlier_[i]);
  for (std::size_t i = 0; i < earlier_.size(); ++i)
    for (std::int32_t word = 0; word < earlier_[i]; ++word) lists_.push_back(place(i) + word);
  const std::int32_t* all = tape.upload(lists_.data(), static_cast<Index>(lists_.size()));
  layout_.rows = {all, all + count, count};
  layout_.positions = {};
  for (const std::int32_t words : earlier_) {
    layout_.rows.rows += words;
    layout_.rows.longest = std::max<Index>(layout_.rows.longest, words);
  }
  layout_.newest = all + 2 * count;
}

template <class Device>
Text ActiveSentences<Device>::advance(Tape<Device>& tape, const std::vector<Token>& words) {
  if (held_) return *held_;
  const auto count = static_cast<Index>(alive().size());
  require(static_cast<Index>(words.size()) == count, "decoding: ", words.size(), " words for ", count, " sentences");
  require(length_ < room_, "decoding: a sentence grew beyond the ", room_, " words it was given room for");
  place_rows(tape);
  ++length_;
  return text_of(tape, words, tape.upload(words.data(), count));
}

template <class Device>
auto ActiveSentences<Device>::hold(Tape<Device>& tape, const std::vector<Token>& words) -> Held {
  std::int32_t* const counters = place_rows(tape);
  require(rows_.copies.empty(), "decoding: rows that repeat cannot be held");
  return {hold_words(tape, words), counters, 3 * static_cast<Index>(words.size())};
}

template <class Device>
auto ActiveSentences<Device>::hold_beams(Tape<Device>& tape, const std::vector<Token>& words) -> HeldBeams {
  const auto count = static_cast<Index>(alive().size());
  std::int32_t* const counters = place_rows(tape, true);
  return {hold_words(tape, words),
          {counters + 3 * count, count, layout_.capacity},
          counters,
          counters + count,
          counters + 2 * count};
}

/// What rows that grow by themselves read: these words first.
template <class Device>
Token* ActiveSentences<Device>::hold_words(Tape<Device>& tape, const std::vector<Token>& words) {
  const auto count = static_cast<Index>(alive().size());
  require(static_cast<Index>(words.size()) == count, "decoding: ", words.size(), " words for ", count, " sentences");
  layout_.rows.longest = layout_.capacity;  // whatever they grow to
  layout_.rows.rows = count * layout_.capacity;
  layout_.positions.most = layout_.capacity - 1;
  Token* const on_device = tape.upload(words.data(), count);
  held_ = text_of(tape, words, on_device);
  return on_device;
}

template <class Device>
void ActiveSentences<Device>::let_go_beams(Device& device, Index steps) {
  rows_.listed.resize(alive().size() * static_cast<std::size_t>(layout_.capacity));
  device.download(rows_.listed.data(), layout_.rows.listed, static_cast<Index>(rows_.listed.size()));
  let_go(steps);
}

/// Where the next word of each active row goes, and what it sees; returns where newest rows, ends and positions stand, each
/// a number of every row, and after them, where positions are listed, the table.
template <class Device>
std::int32_t* ActiveSentences<Device>::place_rows(Tape<Device>& tape, bool listed) {
  const auto count = static_cast<Index>(alive().size());
  rows_.find_places();
  require(rows_.listed.empty() || (listed && rows_.copies.empty()),
          "decoding: rows that were held as beams can only be held so again, each once");
  lists_.clear();  // everything below, for one upload
  const auto list = [&](const std::vector<std::int32_t>& numbers) {
    lists_.insert(lists_.end(), numbers.begin(), numbers.end());
    return lists_.size() - numbers.size();
  };
  const Index capacity = layout_.capacity, written = length_;
  const auto filled = [&](std::size_t row) { return earlier_[static_cast<std::size_t>(alive()[row])] + written; };
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
  const std::size_t places = list(rows_.places), origins = rows_.copies.empty() ? places : list(rows_.origins),
                    sources = lists_.size();
  sources_.list(alive(), lists_);
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
  if (listed) layout_.rows.listed = all + table;
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
  sources_.place(alive(), all + sources);
  rows_.origins = rows_.places;
  return all + newest;
}

template <class Device>
Text ActiveSentences<Device>::text_of(Tape<Device>& tape, const std::vector<Token>& words, const Token* on_device) {
  const auto count = static_cast<Index>(words.size());
  Text text;
  text.tokens = on_device;
  for (const Token word : words) text.smallest = std::min(text.smallest, word), text.largest = std::max(text.largest, word);
  auto* offsets = tape.device.tape_nodes.template array<std::int32_t>(count + 1);
  std::iota(offsets, offsets + count + 1, 0);
  text.rows = upload_offsets(tape, offsets, count);
  text.offsets = offsets;
  return text;
}

}  // namespace attn
