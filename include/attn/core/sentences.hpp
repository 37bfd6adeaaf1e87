#pragma once
#include <initializer_list>

#include "attn/core/types.hpp"

namespace attn {

/// Packed sentences of token ids, on the host: sentence i is tokens[offsets[i]] to tokens[offsets[i + 1] - 1]. Sentences
/// may be empty. There is no padding.
struct Sentences {
  std::vector<Token> tokens;
  std::vector<std::int32_t> offsets{0};

  Sentences() = default;
  /// Sentences{{5, 6, 7}, {8}}: a sentence of three tokens and a sentence of one.
  Sentences(std::initializer_list<std::vector<Token>> sentences) {
    for (const auto& sentence : sentences) push_back(sentence);
  }

  Index size() const { return static_cast<Index>(offsets.size()) - 1; }
  Index length(Index i) const { return offsets[static_cast<std::size_t>(i) + 1] - offsets[static_cast<std::size_t>(i)]; }
  std::span<const Token> operator[](Index i) const {
    return {tokens.data() + offsets[static_cast<std::size_t>(i)], static_cast<std::size_t>(length(i))};
  }

  void push_back(std::span<const Token> sentence) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    offsets.push_back(static_cast<std::int32_t>(tokens.size()));
  }

  void clear() {
    tokens.clear();
    offsets.assign(1, 0);
  }

  Index longest() const {
    Index most = 0;
    for (Index i = 0; i < size(); ++i) most = std::max(most, length(i));
    return most;
  }

  bool operator==(const Sentences&) const = default;
};

}  // namespace attn
