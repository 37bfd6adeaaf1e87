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
  /// One for each sentence of the source; with room for `capacity` words each.
  ActiveSentences(const Text& source, Index capacity) : alive_(static_cast<std::size_t>(source.rows.count)) {
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

  // Where everything lies in the step that advance began, on the device:
  const CacheLayout& layout() const { return layout_; }
  Ragged source() const { return source_rows_; }
  const std::int32_t* places() const { return places_; }  // of each active sentence's state

 private:
  std::vector<Index> alive_;
  CacheLayout layout_;
  Ragged source_rows_;
  const std::int32_t* places_ = nullptr;
  Index length_ = 0;
  std::vector<std::int32_t> offsets_, numbers_;
};

template <class Device>
Text ActiveSentences<Device>::advance(Tape<Device>& tape, const std::vector<Token>& words) {
  const auto count = static_cast<Index>(alive_.size());
  require(static_cast<Index>(words.size()) == count, "decoding: ", words.size(), " words for ", count, " sentences");
  require(length_ < layout_.capacity, "decoding: a sentence grew beyond the ", layout_.capacity,
          " words it was given room for");
  const auto listed = [&](auto&& number) {
    numbers_.clear();
    for (const Index sentence : alive_) numbers_.push_back(static_cast<std::int32_t>(number(sentence)));
    return tape.upload(numbers_.data(), count);
  };
  const auto offset = [&](Index i) { return offsets_[static_cast<std::size_t>(i)]; };
  const Index filled = length_++;
  layout_.rows = {listed([&](Index i) { return i * layout_.capacity; }),
                  listed([&](Index i) { return i * layout_.capacity + length_; }), count, count * length_, length_};
  layout_.newest = listed([&](Index i) { return i * layout_.capacity + filled; });
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
