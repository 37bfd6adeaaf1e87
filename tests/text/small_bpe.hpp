#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attn/text/byte_bpe.hpp"

/// <s> <pad> </s> <unk>, the 256 bytes in order, a token a merge, <mask>.
inline attn::ByteBpe small_bpe(std::initializer_list<std::pair<std::string, std::string>> pairs) {
  std::vector<std::string> tokens{"<s>", "<pad>", "</s>", "<unk>"};
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back(attn::byte_alphabet::written(std::string(1, static_cast<char>(byte))));
  std::map<std::string, attn::Token> ids;
  for (const std::string& token : tokens) ids.emplace(token, static_cast<attn::Token>(ids.size()));
  std::vector<attn::Merge> merges;
  for (const auto& [left, right] : pairs) {
    const auto [result, is_new] = ids.emplace(left + right, static_cast<attn::Token>(tokens.size()));
    if (is_new) tokens.push_back(left + right);
    merges.push_back({ids.at(left), ids.at(right), result->second});
  }
  tokens.push_back("<mask>");
  return attn::ByteBpe(std::move(tokens), std::move(merges));
}

/// The tokens of a text as written in the byte alphabet.
inline std::vector<std::string> pieces(const attn::ByteBpe& bpe, std::string_view text) {
  std::vector<std::string> names;
  for (const attn::Token id : bpe.encode(text)) names.push_back(bpe.tokens()[static_cast<std::size_t>(id)]);
  return names;
}
