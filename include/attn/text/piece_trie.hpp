#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// A trie over a set of strings. Finds all that are prefixes of a text in one pass.
class PieceTrie {
 public:
  PieceTrie() : PieceTrie(std::vector<std::pair<std::string_view, Token>>{}) {}

  /// Strings and their ids; the first of equal strings wins. Does not keep the strings.
  explicit PieceTrie(std::vector<std::pair<std::string_view, Token>> pieces) {
    std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    struct Range {
      std::size_t first, last, depth;  // pieces that share the node's prefix of `depth` bytes
    };
    std::vector<Range> ranges{{0, pieces.size(), 0}};
    nodes_.push_back({});
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      auto [first, last, depth] = ranges[at];
      while (first < last && pieces[first].first.size() == depth) {
        if (nodes_[at].id < 0) nodes_[at].id = pieces[first].second;
        ++first;
      }
      nodes_[at].children = static_cast<std::uint32_t>(nodes_.size());
      while (first < last) {
        const char byte = pieces[first].first[depth];
        std::size_t end = first;
        while (end < last && pieces[end].first[depth] == byte) ++end;
        nodes_.push_back({.label = static_cast<unsigned char>(byte)});
        ranges.push_back({first, end, depth + 1});
        ++nodes_[at].count;
        first = end;
      }
    }
  }

  /// Calls found(length, id) for each string that is a prefix of the text, shortest first.
  void for_each_prefix(std::string_view text, const auto& found) const {
    const Node* node = nodes_.data();
    if (node->id >= 0) found(std::size_t{0}, node->id);
    for (std::size_t length = 1; length <= text.size(); ++length) {
      const auto byte = static_cast<unsigned char>(text[length - 1]);
      const Node *first = nodes_.data() + node->children, *last = first + node->count;
      node =
          std::lower_bound(first, last, byte, [](const Node& child, unsigned char label) { return child.label < label; });
      if (node == last || node->label != byte) return;
      if (node->id >= 0) found(length, node->id);
    }
  }

  /// The length of the longest string that is a prefix of the text, or 0.
  std::size_t longest(std::string_view text) const {
    std::size_t longest = 0;
    for_each_prefix(text, [&](std::size_t length, Token) { longest = length; });
    return longest;
  }

 private:
  struct Node {
    std::uint32_t children = 0;  // index of the first child; children are contiguous and sorted by label
    std::uint16_t count = 0;
    unsigned char label = 0;  // the byte on the edge to this node
    Token id = -1;            // of the string that ends here, or -1
  };
  std::vector<Node> nodes_;
};

}  // namespace attn
