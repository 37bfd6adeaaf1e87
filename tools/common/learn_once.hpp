#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/parallel/communicator.hpp"
#include "attn/text/bpe_training.hpp"

namespace attn {

/// Runs learn_byte_bpe on rank 0; the other ranks wait and receive the result.
template <class... Texts>
ByteBpe learn_once(Communicator& ranks, Index vocabulary, const Texts&... texts) {
  if (ranks.ranks() == 1) return learn_byte_bpe(vocabulary, texts...);
  nlohmann::json trained;
  if (ranks.leads()) {
    const ByteBpe bpe = learn_byte_bpe(vocabulary, texts...);
    trained["tokens"] = bpe.tokens();
    trained["merges"] = nlohmann::json::array();
    for (const auto& [left, right, result] : bpe.merges()) trained["merges"].push_back({left, right, result});
  }
  trained = nlohmann::json::parse(ranks.from_first(trained.dump()));
  std::vector<Merge> merges;
  for (const auto& merge : trained["merges"])
    merges.push_back({merge[0].get<Token>(), merge[1].get<Token>(), merge[2].get<Token>()});
  return ByteBpe(trained["tokens"].get<std::vector<std::string>>(), std::move(merges));
}

}  // namespace attn
