#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

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

  /// New row i continues row rows[i].
  void select(std::span<const Index> rows) {
    const auto count = static_cast<Index>(rows.size()), active = static_cast<Index>(sentences.size());
    require(count <= room_, "decoding: ", count, " rows are selected, but only ", room_,
            " are reserved. Start with more hypotheses per sentence.");
    for (const Index row : rows)
      require(row >= 0 && row < active, "decoding: the selected row ", row, " is not one of the ", active, " active rows");
    sentences_before_.swap(sentences);
    origins_before_.swap(origins);
    listed_before_.swap(listed);
    sentences.clear(), origins.clear(), listed.clear();
    const auto each = active > 0 ? static_cast<Index>(listed_before_.size()) / active : 0;
    for (const Index row : rows) {
      sentences.push_back(sentences_before_[static_cast<std::size_t>(row)]);
      origins.push_back(origins_before_[static_cast<std::size_t>(row)]);
      const auto first = listed_before_.begin() + row * each;
      listed.insert(listed.end(), first, first + each);
    }
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

}  // namespace attn
