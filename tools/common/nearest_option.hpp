#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "attn/core/parameter_groups.hpp"

// Suggestions for unknown options.

namespace attn::detail {

/// "; did you mean --epochs?" or an empty string.
inline std::string suggestion(const CLI::App& app, const std::string& given) {
  std::string nearest;
  std::size_t least = suggestion_distance(given) + 1;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t d = edit_distance(given, "--" + name); d < least) least = d, nearest = "--" + name;
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace attn::detail
