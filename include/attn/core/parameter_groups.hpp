#pragma once
#include "attn/core/edit_distance.hpp"
#include "attn/core/error.hpp"

namespace attn {

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
