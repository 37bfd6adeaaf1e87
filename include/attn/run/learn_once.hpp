#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/parallel/communicator.hpp"
#include "attn/text/bpe_training.hpp"

namespace attn {

/// learn_byte_bpe at the first rank; the others wait, and get what it has learnt.
inline ByteBpe learn_once(Communicator& ranks, Index vocabulary, std::span<const std::string> source,
                          std::span<const std::string> target) {
  if (ranks.ranks() == 1) return learn_byte_bpe(vocabulary, source, target);
  nlohmann::json said;
  if (ranks.leads()) {
    const ByteBpe learnt = learn_byte_bpe(vocabulary, source, target);
    said["tokens"] = learnt.tokens();
    said["merges"] = nlohmann::json::array();
    for (const auto& [left, right, result] : learnt.merges()) said["merges"].push_back({left, right, result});
  }
  said = nlohmann::json::parse(ranks.from_first(said.dump()));
  std::vector<Merge> merges;
  for (const auto& merge : said["merges"])
    merges.push_back({merge[0].get<Token>(), merge[1].get<Token>(), merge[2].get<Token>()});
  return ByteBpe(said["tokens"].get<std::vector<std::string>>(), std::move(merges));
}

}  // namespace attn
