#pragma once
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/parallel/communicator.hpp"

namespace attn {

/// Settings that must be equal on all ranks, by name: version, seed, text, model.
using CommonSettings = std::vector<std::pair<std::string, std::string>>;

/// The first line in which two texts differ, from each text.
inline std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  std::string one, other;
  do {
    one.clear(), other.clear();
    std::getline(of_a, one), std::getline(of_b, other);
  } while (one == other && (of_a || of_b));
  return {one, other};
}

/// Throws Error on every rank unless all have equal settings. The error names the first rank that differs from rank 0, its
/// machine and its value; for multi-line values, the first line that differs.
inline void require_same_everywhere(Communicator& ranks, const CommonSettings& settings) {
  for (const auto& [name, mine] : settings) {
    const std::vector<std::string> all = ranks.gather(mine);
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i] == all[0]) continue;
      const auto [its, first] = first_difference(all[i], all[0]);
      fail("rank ", i, " on ", ranks.host(static_cast<Index>(i)), " has ", name, " ", its, ", rank 0 on ", ranks.host(0),
           " has ", first, ". Start all ranks with the same program, files and options.");
    }
  }
}

}  // namespace attn
