#pragma once
#include <numeric>
#include <vector>

#include "attn/attention/cache.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// What a Transformer's decoder remembers between two words: the keys and values of the source, computed once, and those of
/// the words so far. Lives in the memory of the tape it was made on. Sentences that have ended leave without anything being
/// moved.
template <class Device, int Width>
class TransformerState {
 public:
  /// From what each decoder layer remembers of the source; with room for `capacity` words of each sentence.
  TransformerState(Tape<Device>& tape, const std::vector<KeysValues<Device, Width>>& memories, Index capacity)
      : alive_(static_cast<std::size_t>(memories[0].rows.count)) {
    std::iota(alive_.begin(), alive_.end(), Index{0});
    layout_.places = memories[0].rows.count;
    layout_.capacity = capacity;
    for (const auto& memory : memories) {
      Layer layer{
          memory, {tape, layout_}, std::vector<std::int32_t>(alive_.size()), std::vector<std::int32_t>(alive_.size())};
      tape.device.download(layer.begin.data(), memory.rows.begin, memory.rows.count);
      tape.device.download(layer.end.data(), memory.rows.end, memory.rows.count);
      layers_.push_back(std::move(layer));
    }
  }
  TransformerState(const TransformerState&) = delete;  // the caches know where the layout is

  const std::vector<Index>& alive() const { return alive_; }  // the sentences still being written
  Index length() const { return length_; }                    // words so far

  /// Keeps the sentences for which keep[i], i counting those alive, is true.
  void keep(const std::vector<bool>& keep) {
    const auto compact = [&](auto& items) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < keep.size(); ++i)
        if (keep[i]) items[kept++] = items[i];
      items.resize(kept);
    };
    compact(alive_);
    for (Layer& layer : layers_) compact(layer.begin), compact(layer.end);
  }

  /// Makes room for one more word of each active sentence: the text of those words, and where everything lies in this step.
  Text advance(Tape<Device>& tape, const std::vector<Token>& words) {
    const auto count = static_cast<Index>(alive_.size());
    require(static_cast<Index>(words.size()) == count, "decoding: ", words.size(), " words for ", count, " sentences");
    require(length_ < layout_.capacity, "decoding: a sentence grew beyond the ", layout_.capacity,
            " words it was given room for");
    offsets_.resize(alive_.size() + 1);
    begin_.resize(alive_.size());
    end_.resize(alive_.size());
    newest_.resize(alive_.size());
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      offsets_[i + 1] = static_cast<std::int32_t>(i + 1);
      begin_[i] = static_cast<std::int32_t>(alive_[i] * layout_.capacity);
      newest_[i] = begin_[i] + static_cast<std::int32_t>(length_);
      end_[i] = newest_[i] + 1;
    }
    ++length_;
    layout_.rows = {tape.upload(begin_.data(), count), tape.upload(end_.data(), count), count, count * length_, length_};
    layout_.newest = tape.upload(newest_.data(), count);
    for (Layer& layer : layers_) {
      layer.memory.rows.begin = tape.upload(layer.begin.data(), count);
      layer.memory.rows.end = tape.upload(layer.end.data(), count);
      layer.memory.rows.count = count;
      layer.memory.rows.blocks = nullptr;  // those of sentences that have left
    }
    Text text{tape.upload(words.data(), count), upload_offsets(tape, offsets_.data(), count)};
    for (const Token word : words)
      text.smallest = std::min(text.smallest, word), text.largest = std::max(text.largest, word);
    return text;
  }

  const KeysValues<Device, Width>& memory(std::size_t layer) const { return layers_[layer].memory; }
  KeyValueCache<Device, Width>* past(std::size_t layer) { return &layers_[layer].past; }

 private:
  struct Layer {
    KeysValues<Device, Width> memory;  // of the source
    KeyValueCache<Device, Width> past;
    std::vector<std::int32_t> begin, end;  // the memory's rows of each active sentence, on the host
  };

  CacheLayout layout_;
  std::vector<Layer> layers_;
  std::vector<Index> alive_;
  Index length_ = 0;
  std::vector<std::int32_t> offsets_{0}, begin_, end_, newest_;
};

}  // namespace attn
