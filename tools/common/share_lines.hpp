#pragma once
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/parallel/communicator.hpp"

namespace attn {

/// Splits the lines among the ranks; all ranks get every translation. A translation must be one line.
template <class Translate>
std::vector<std::string> share_lines(Communicator& ranks, const std::vector<std::string>& lines,
                                     const Translate& translate) {
  if (ranks.ranks() == 1) return translate(lines);
  const auto n = static_cast<std::size_t>(ranks.ranks());
  std::vector<std::string> mine;
  for (auto i = static_cast<std::size_t>(ranks.rank()); i < lines.size(); i += n) mine.push_back(lines[i]);
  std::string said;
  for (const std::string& line : translate(mine)) said += line + "\n";
  const std::vector<std::string> all = ranks.gather(said);
  std::vector<std::size_t> next(n);  // start of each rank's next line
  std::vector<std::string> translations;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t rank = i % n, end = all[rank].find('\n', next[rank]);
    require(end != std::string::npos, "rank ", rank, " on ", ranks.host(static_cast<Index>(rank)),
            " returned fewer translations than lines");
    translations.push_back(all[rank].substr(next[rank], end - next[rank]));
    next[rank] = end + 1;
  }
  return translations;
}

}  // namespace attn
