#pragma once
#include "attn/core/standard.hpp"

namespace attn {

/// Levenshtein distance: the number of characters to change, insert or delete to turn `a` into `b`.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      corner = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)}));
  }
  return row[b.size()];
}

/// The largest edit distance at which a word is suggested for a misspelt one.
constexpr std::size_t suggestion_distance(std::string_view misspelt) {
  return std::max<std::size_t>(2, misspelt.size() / 3);
}

}  // namespace attn
