#include "attn/text/sentencepiece_model.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace attn;
using Found = std::vector<std::pair<std::size_t, Token>>;

namespace {

Found prefixes(const PieceTrie& trie, std::string_view text) {
  Found found;
  trie.for_each_prefix(text, [&](std::size_t length, Token id) { found.emplace_back(length, id); });
  return found;
}

}  // namespace

TEST_CASE("piece trie: finds every prefix of a text with the shortest first") {
  const PieceTrie trie({{"b", 1}, {"ab", 2}, {"a", 3}, {"abcd", 4}, {"\xFFz", 5}, {"ab", 6}});
  CHECK(prefixes(trie, "abcde") == Found{{1, 3}, {2, 2}, {4, 4}});
  CHECK(prefixes(trie, "abc") == Found{{1, 3}, {2, 2}});
  CHECK(prefixes(trie, "\xFFz") == Found{{2, 5}});
  CHECK(prefixes(trie, "cab").empty());
  CHECK(prefixes(trie, "").empty());
  CHECK(trie.longest("abcdab") == 4);
  CHECK(trie.longest("x") == 0);
}

TEST_CASE("piece trie: may be empty or contain all 256 bytes") {
  CHECK(prefixes(PieceTrie(), "abc").empty());
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  std::vector<std::pair<std::string_view, Token>> all;
  for (std::size_t i = 0; i < 256; ++i) all.emplace_back(std::string_view(bytes).substr(i, 1), static_cast<Token>(i));
  const PieceTrie trie(all);
  for (std::size_t i = 0; i < 256; ++i) CHECK(prefixes(trie, bytes.substr(i, 2)) == Found{{1, static_cast<Token>(i)}});
}
