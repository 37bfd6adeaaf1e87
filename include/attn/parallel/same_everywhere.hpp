#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/parallel/communicator.hpp"

namespace attn {

/// What ranks must have in common, by name: version, seed, text, model.
using CommonSettings = std::vector<std::pair<std::string, std::string>>;

/// An Error at every rank unless all of them have the same: it names the first rank that differs from rank 0, its machine, and
/// what it has.
inline void require_same_everywhere(Communicator& ranks, const CommonSettings& settings) {
  for (const auto& [name, mine] : settings) {
    const std::vector<std::string> all = ranks.gather(mine);
    for (std::size_t i = 1; i < all.size(); ++i)
      require(all[i] == all[0], "rank ", i, " on ", ranks.host(static_cast<Index>(i)), " has ", name, " ", all[i],
              ", rank 0 on ", ranks.host(0), " has ", all[0], ": give all ranks the same program, files and options");
  }
}

}  // namespace attn
