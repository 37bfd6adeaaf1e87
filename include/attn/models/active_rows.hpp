#pragma once
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// The rows of a decoder's next step, on the host: the sentence of each, and the places that its states are in and go to. At
/// first every sentence has one, in the place of its number.
class ActiveRows {
 public:
  ActiveRows(Index count, Index room) : sentences(static_cast<std::size_t>(count)), origins(sentences.size()), room_(room) {
    std::iota(sentences.begin(), sentences.end(), Index{0});
    std::iota(origins.begin(), origins.end(), 0);
  }

  // Of each row:
  std::vector<Index> sentences;
  std::vector<std::int32_t> origins, places;  // where its states are, and where they go
  std::vector<std::int32_t> listed;  // where its positions lie, as many numbers a row; none: in its origin, in their order

  std::vector<std::int32_t> copies;  // rows that go to another place

  /// New row i continues row rows[i].
  void select(std::span<const Index> rows);
  /// Whether the rows' states are in the first places, one after the other.
  bool in_order() const;
  /// The first row that continues a place stays there; the others go to places that no row continues.
  void find_places();

 private:
  Index room_;  // places
  // Kept so that a step takes nothing from the heap:
  std::vector<Index> sentences_before_;
  std::vector<std::int32_t> origins_before_, listed_before_;
  std::vector<bool> taken_;
};

inline void ActiveRows::select(std::span<const Index> rows) {
  const auto count = static_cast<Index>(rows.size()), active = static_cast<Index>(sentences.size());
  require(count <= room_, "decoding: ", count, " rows are selected, but there is room for ", room_,
          "; start with more hypotheses of each sentence");
  for (const Index row : rows)
    require(row >= 0 && row < active, "decoding: row ", row, " is selected of ", active, " active ones");
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

inline bool ActiveRows::in_order() const {
  for (std::size_t i = 0; i < origins.size(); ++i)
    if (origins[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

inline void ActiveRows::find_places() {
  taken_.assign(static_cast<std::size_t>(room_), false);
  places.assign(origins.size(), -1);
  copies.clear();
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const auto place = static_cast<std::size_t>(origins[i]);
    if (!taken_[place]) places[i] = origins[i], taken_[place] = true;
  }
  std::int32_t next = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= 0) continue;
    while (taken_[static_cast<std::size_t>(next)]) ++next;
    places[i] = next++;
    copies.push_back(static_cast<std::int32_t>(i));
  }
}

}  // namespace attn
