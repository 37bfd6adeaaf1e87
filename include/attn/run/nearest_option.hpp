#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// What somebody may have meant who gave an option that does not exist.

namespace attn::detail {

/// How many letters have to be changed, added or left out (Levenshtein).
inline std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      corner = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)}));
  }
  return row[b.size()];
}

/// "; did you mean --epochs?" or nothing.
inline std::string suggestion(const CLI::App& app, const std::string& given) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t d = distance(given, "--" + name); d < least) least = d, nearest = "--" + name;
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace attn::detail
