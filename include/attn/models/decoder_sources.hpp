#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "attn/core/ragged.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// The source rows of a decoder's layers, such as the rows of each sentence in a layer's keys. They are known on the host.
/// Each step uploads those of the active sentences. Layers with equal rows share one list.
class DecoderSources {
 public:
  /// Adds the next layer's rows, for all sentences.
  template <class Device>
  void add(Device& device, const Ragged& rows) {
    const auto find = [&](auto&& same) { return std::find_if(sources_.begin(), sources_.end(), same); };
    auto known = find([&](const Source& other) { return other.of == rows.begin; });
    if (known == sources_.end()) {
      Source source = read(device, rows);
      known = find([&](const Source& other) { return other.begin == source.begin && other.end == source.end; });
      if (known == sources_.end()) known = sources_.insert(known, std::move(source));
    }
    of_layer_.push_back(static_cast<std::size_t>(known - sources_.begin()));
  }

  /// Appends the rows of these sentences to `lists`, for upload.
  void list(std::span<const Index> sentences, std::vector<std::int32_t>& lists) const {
    for (const Source& source : sources_)
      for (const auto* numbers : {&source.begin, &source.end})
        for (const Index sentence : sentences) lists.push_back((*numbers)[static_cast<std::size_t>(sentence)]);
  }
  /// Selects these sentences, whose lists were uploaded to `lists`.
  void place(std::span<const Index> sentences, const std::int32_t* lists) {
    const auto count = static_cast<Index>(sentences.size());
    for (Source& source : sources_) {
      source.rows = {lists, lists + count, count, 0, 0};
      for (const Index sentence : sentences) {
        const auto i = static_cast<std::size_t>(sentence);
        const Index length = source.end[i] - source.begin[i];
        source.rows.rows += length;
        source.rows.longest = std::max(source.rows.longest, length);
      }
      lists += 2 * count;
    }
  }

  Ragged operator[](std::size_t layer) const { return sources_[of_layer_[layer]].rows; }

 private:
  struct Source {
    const std::int32_t* of;                // the array it was read from
    std::vector<std::int32_t> begin, end;  // of each sentence, on the host
    Ragged rows;                           // of the selected sentences
  };

  template <class Device>
  static Source read(Device& device, const Ragged& rows) {
    const auto count = static_cast<std::size_t>(rows.count);
    Source source{rows.begin, std::vector<std::int32_t>(count), std::vector<std::int32_t>(count), {}};
    if (rows.offsets_on_host != nullptr) {  // avoids waiting for the encoder
      std::copy_n(rows.offsets_on_host, rows.count, source.begin.data());
      std::copy_n(rows.offsets_on_host + 1, rows.count, source.end.data());
    } else {
      device.download(source.begin.data(), rows.begin, rows.count);
      device.download(source.end.data(), rows.end, rows.count);
    }
    return source;
  }

  std::vector<Source> sources_;        // distinct
  std::vector<std::size_t> of_layer_;  // index in sources_ of each layer
};

}  // namespace attn
