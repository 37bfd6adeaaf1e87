#pragma once
#include "attn/core/error.hpp"

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

/// Per-group optimiser settings, like param_groups of torch.optim.
struct GroupOptions {
  double rate = 1;                          // factor on the scheduled learning rate; 0: no updates
  std::optional<double> weight_decay = {};  // overrides the optimiser's
  bool decay_vectors = false;               // apply weight decay to the group's biases and norms as well
  bool operator==(const GroupOptions&) const = default;
};

inline void check_group(const GroupOptions& options, std::string_view name) {
  const auto valid = [](double number) { return std::isfinite(number) && number >= 0; };
  require(valid(options.rate), "group '", name, "': a rate factor of ", options.rate, " is not a finite number >= 0");
  require(!options.weight_decay || valid(*options.weight_decay), "group '", name, "': a weight_decay of ",
          options.weight_decay.value_or(0), " is not a finite number >= 0");
}

/// Whether a pattern selects a parameter. The pattern's dot-separated components must match the first components of the
/// name; `*` matches any one component. "encoder" selects "encoder.layers.0.attention.in.weight", but not
/// "encoder2.weight"; "decoder.layers.*.norm" selects the norms of all layers.
inline bool matches_name(std::string_view pattern, std::string_view name) {
  while (true) {
    const std::size_t end = pattern.find('.'), name_end = name.find('.');
    const std::string_view wanted = pattern.substr(0, end);
    if (wanted != "*" && wanted != name.substr(0, name_end)) return false;
    if (end == pattern.npos) return true;
    if (name_end == name.npos) return false;
    pattern.remove_prefix(end + 1);
    name.remove_prefix(name_end + 1);
  }
}

/// Throws the Error for a pattern without matches: lists the top-level names and suggests the nearest name.
[[noreturn]] inline void fail_no_match(std::string_view pattern, const std::vector<std::string>& names) {
  std::vector<std::string_view> top;
  std::string_view nearest;
  std::size_t least = suggestion_distance(pattern) + 1;
  for (const std::string_view name : names) {
    if (const auto first = name.substr(0, name.find('.')); std::ranges::find(top, first) == top.end()) top.push_back(first);
    for (std::size_t end = name.find('.');; end = name.find('.', end + 1)) {  // every layer on the path, and the parameter
      const std::string_view path = name.substr(0, end);
      if (const std::size_t d = edit_distance(pattern, path); d < least) least = d, nearest = path;
      if (end == name.npos) break;
    }
  }
  std::string list;
  for (const std::string_view name : top) list.append(list.empty() ? "" : ", ").append(name);
  fail("the model has no parameters named '", pattern, "'; its top-level names are ", list.empty() ? "none" : list,
       nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?");
}

}  // namespace attn
