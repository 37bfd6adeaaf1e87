#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "attn/core/edit_distance.hpp"

// What somebody may have meant who gave an option that does not exist.

namespace attn::detail {

/// "; did you mean --epochs?" or nothing.
inline std::string suggestion(const CLI::App& app, const std::string& given) {
  std::string nearest;
  std::size_t least = suggestion_distance(given) + 1;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t d = edit_distance(given, "--" + name); d < least) least = d, nearest = "--" + name;
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace attn::detail
