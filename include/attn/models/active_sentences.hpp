#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "attn/attention/cache.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// The sentences that a decoder is still writing: where their states, their caches and their sources lie. Those that have
/// ended leave the lists, and nothing moves.
template <class Device>
class ActiveSentences {
 public:
  /// One for each sentence of the source; with room for `capacity` words each. A language model's sentences go on after so many
  /// `earlier` words each, which count among the capacity but not as words of its own.
  ActiveSentences(const Text& source, Index capacity, std::vector<std::int32_t> earlier = {})
      : alive_(static_cast<std::size_t>(source.rows.count)), earlier_(std::move(earlier)) {
    earlier_.resize(alive_.size());
    room_ = capacity;
    for (const std::int32_t words : earlier_) room_ = std::min<Index>(room_, capacity - words);
    std::iota(alive_.begin(), alive_.end(), Index{0});
    layout_.places = source.rows.count;
    layout_.capacity = capacity;
    source_rows_ = source.rows;
    offsets_.assign(source.offsets, source.offsets + source.rows.count + 1);
  }
  ActiveSentences(const ActiveSentences&) = delete;  // caches know where the layout is

  const std::vector<Index>& alive() const { return alive_; }  // the sentences still being written
  Index length() const { return length_; }                    // words so far

  /// Keeps the sentences for which keep[i], i counting those alive, is true.
  void keep(const std::vector<bool>& keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) alive_[kept++] = alive_[i];
    alive_.resize(kept);
  }

  /// Makes room for one more word of each active sentence: the text of those words.
  Text advance(Tape<Device>& tape, const std::vector<Token>& words);

  /// Makes room for the earlier words of all sentences, packed, in one pass.
  void advance_to_first(Tape<Device>& tape);

  // Where everything lies in the step that advance began, on the device:
  const CacheLayout& layout() const { return layout_; }
  Ragged source() const { return source_rows_; }
  const std::int32_t* places() const { return places_; }   // of each active sentence's state
  FirstPositions positions() const { return positions_; }  // of each active sentence's newest word

 private:
  std::vector<Index> alive_;
  CacheLayout layout_;
  Ragged source_rows_;
  const std::int32_t* places_ = nullptr;
  Index length_ = 0, room_ = 0;  // words of each sentence: so far, and at most
  FirstPositions positions_;
  std::vector<std::int32_t> earlier_, offsets_, numbers_;
};

template <class Device>
void ActiveSentences<Device>::advance_to_first(Tape<Device>& tape) {
  const auto upload = [&] { return tape.upload(numbers_.data(), std::ssize(numbers_)); };
  const auto place = [&](std::size_t i) { return static_cast<std::int32_t>(static_cast<Index>(i) * layout_.capacity); };
  layout_.rows = {.count = std::ssize(earlier_)};
  numbers_.clear();
  for (std::size_t i = 0; i < earlier_.size(); ++i) numbers_.push_back(place(i));
  layout_.rows.begin = upload();
  for (std::size_t i = 0; i < earlier_.size(); ++i) {
    numbers_[i] += earlier_[i];
    layout_.rows.rows += earlier_[i];
    layout_.rows.longest = std::max<Index>(layout_.rows.longest, earlier_[i]);
  }
  layout_.rows.end = upload();
  numbers_.clear();
  for (std::size_t i = 0; i < earlier_.size(); ++i)
    for (std::int32_t word = 0; word < earlier_[i]; ++word) numbers_.push_back(place(i) + word);
  layout_.newest = upload();
}

template <class Device>
Text ActiveSentences<Device>::advance(Tape<Device>& tape, const std::vector<Token>& words) {
  const auto count = static_cast<Index>(alive_.size());
  require(static_cast<Index>(words.size()) == count, "decoding: ", words.size(), " words for ", count, " sentences");
  require(length_ < room_, "decoding: a sentence grew beyond the ", room_, " words it was given room for");
  const auto listed = [&](auto&& number) {
    numbers_.clear();
    for (const Index sentence : alive_) numbers_.push_back(static_cast<std::int32_t>(number(sentence)));
    return tape.upload(numbers_.data(), count);
  };
  const auto offset = [&](Index i) { return offsets_[static_cast<std::size_t>(i)]; };
  const Index written = length_++;
  const auto filled = [&](Index i) { return earlier_[static_cast<std::size_t>(i)] + written; };
  layout_.rows = {listed([&](Index i) { return i * layout_.capacity; }),
                  listed([&](Index i) { return i * layout_.capacity + filled(i) + 1; }), count};
  layout_.newest = listed([&](Index i) { return i * layout_.capacity + filled(i); });
  positions_ = {0, listed(filled)};
  for (const Index i : alive_) {
    layout_.rows.rows += filled(i) + 1;
    layout_.rows.longest = std::max(layout_.rows.longest, filled(i) + 1);
    positions_.most = std::max(positions_.most, filled(i));
  }
  source_rows_ = {listed([&](Index i) { return offset(i); }), listed([&](Index i) { return offset(i + 1); }), count, 0, 0};
  for (const Index i : alive_) {
    source_rows_.rows += offset(i + 1) - offset(i);
    source_rows_.longest = std::max<Index>(source_rows_.longest, offset(i + 1) - offset(i));
  }
  places_ = listed([](Index i) { return i; });
  Text text;
  text.tokens = tape.upload(words.data(), count);
  for (const Token word : words) text.smallest = std::min(text.smallest, word), text.largest = std::max(text.largest, word);
  auto* offsets = tape.device.tape_nodes.template array<std::int32_t>(count + 1);
  std::iota(offsets, offsets + count + 1, 0);
  text.rows = upload_offsets(tape, offsets, count);
  text.offsets = offsets;
  return text;
}

}  // namespace attn
