#pragma once
#include "attn/tape/embedding.hpp"

namespace attn {

/// The rows of a decoder's next step, on the host: the sentence of each row, and the places that hold its states before and
/// after the step. Initially sentence i has one row, in place i.
class ActiveRows {
 public:
  ActiveRows(Index count, Index room)
      : sentences(static_cast<std::size_t>(count)), origins(sentences.size()), count_(count), room_(room) {
    std::iota(sentences.begin(), sentences.end(), Index{0});
    std::iota(origins.begin(), origins.end(), 0);
  }

  // For each row:
  std::vector<Index> sentences;
  std::vector<std::int32_t> origins, places;  // of its states, before and after the step
  std::vector<std::int32_t> listed;  // cache rows of its positions, equally many per row; empty: in order, in its origin

  std::vector<std::int32_t> copies;  // rows that move to another place

  void select(std::span<const Index> rows) {
    const auto count = static_cast<Index>(rows.size()), active = static_cast<Index>(sentences.size());
    require(count <= room_, "decoding: ", count, " rows are selected, but only ", room_,
            " are reserved. Start with more hypotheses per sentence.");
    for (const Index row : rows)
      require(row >= 0 && row < active, "decoding: the selected row ", row, " is not one of the ", active, " active rows");
    const auto pick = [&](auto& values, auto& before, Index each) {
      before.swap(values);
      values.clear();
      for (const Index row : rows)
        values.insert(values.end(), before.begin() + row * each, before.begin() + (row + 1) * each);
    };
    pick(listed, listed_before_, active > 0 ? std::ssize(listed) / active : 0);
    pick(sentences, sentences_before_, 1);
    pick(origins, origins_before_, 1);
  }
  /// Whether row i has its states in place i, for all rows.
  bool in_order() const {
    for (std::size_t i = 0; i < origins.size(); ++i)
      if (origins[i] != static_cast<std::int32_t>(i)) return false;
    return true;
  }
  /// Assigns a place to each row. The first row that continues a place stays there. The others get free places, first those
  /// of their own sentence: sentence i has places i, i + count, i + 2 count and so on.
  void find_places() {
    taken_.assign(static_cast<std::size_t>(room_), false);
    places.assign(origins.size(), -1);
    copies.clear();
    for (std::size_t i = 0; i < origins.size(); ++i) {
      const auto place = static_cast<std::size_t>(origins[i]);
      if (!taken_[place]) places[i] = origins[i], taken_[place] = true;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0) continue;
      Index place = sentences[i];
      while (place < room_ && taken_[static_cast<std::size_t>(place)]) place += count_;
      if (place >= room_) place = std::find(taken_.begin(), taken_.end(), false) - taken_.begin();
      taken_[static_cast<std::size_t>(place)] = true;
      places[i] = static_cast<std::int32_t>(place);
      copies.push_back(static_cast<std::int32_t>(i));
    }
  }

 private:
  Index count_, room_;  // initial sentences, places
  // Reused, so that steps do not allocate:
  std::vector<Index> sentences_before_;
  std::vector<std::int32_t> origins_before_, listed_before_;
  std::vector<bool> taken_;
};

/// The source rows of a decoder's layers, such as the rows of each sentence in a layer's keys. They are known on the host.
/// Each step uploads those of the active sentences. Layers with equal rows share one list.
class DecoderSources {
 public:
  /// Adds the next layer's rows, for all sentences.
  template <class Device>
  void add(Device& device, const Ragged& rows) {
    auto bounds = offsets_on_host(device, rows);
    auto known = std::ranges::find(sources_, bounds, &Source::bounds);
    if (known == sources_.end()) known = sources_.insert(known, Source{std::move(bounds), {}});
    of_layer_.push_back(static_cast<std::size_t>(known - sources_.begin()));
  }

  /// Appends the rows of these sentences to `lists`, for upload.
  void list(std::span<const Index> sentences, std::vector<std::int32_t>& lists) const {
    for (const Source& source : sources_)
      for (const auto& offsets : source.bounds)
        for (const Index sentence : sentences) lists.push_back(offsets[static_cast<std::size_t>(sentence)]);
  }
  /// Selects these sentences, whose lists were uploaded to `lists`.
  void place(std::span<const Index> sentences, const std::int32_t* lists) {
    const auto count = static_cast<Index>(sentences.size());
    for (Source& source : sources_) {
      source.rows = {lists, lists + count, count, 0, 0};
      for (const Index sentence : sentences) {
        const auto i = static_cast<std::size_t>(sentence);
        const Index length = source.bounds[1][i] - source.bounds[0][i];
        source.rows.rows += length;
        source.rows.longest = std::max(source.rows.longest, length);
      }
      lists += 2 * count;
    }
  }

  Ragged operator[](std::size_t layer) const { return sources_[of_layer_[layer]].rows; }

 private:
  struct Source {
    std::array<std::vector<std::int32_t>, 2> bounds;  // begin and end of each sentence, on the host
    Ragged rows;                                      // of the selected sentences
  };

  std::vector<Source> sources_;        // distinct
  std::vector<std::size_t> of_layer_;  // index in sources_ of each layer
};

}  // namespace attn
