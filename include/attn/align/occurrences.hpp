#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/sentences.hpp"
#include "attn/core/types.hpp"

namespace attn::detail {

/// All occurrences of each word of a text, in text order.
struct Occurrences {
  struct Place {
    std::int32_t sentence, token;  // token: index in the whole text
  };

  std::vector<std::int32_t> offsets;  // word w has places offsets[w] to offsets[w + 1]
  std::vector<Place> places;

  explicit Occurrences(const Sentences& text) {
    Token highest = -1;
    for (const Token word : text.tokens) {
      require(word >= 0, "alignment: the word id ", word, " is negative");
      highest = std::max(highest, word);
    }
    offsets.assign(static_cast<std::size_t>(highest) + 2, 0);
    for (const Token word : text.tokens) ++offsets[static_cast<std::size_t>(word) + 1];
    for (std::size_t w = 1; w < offsets.size(); ++w) offsets[w] += offsets[w - 1];
    places.resize(text.tokens.size());
    std::vector<std::int32_t> next(offsets);
    for (std::int32_t sentence = 0; sentence < text.size(); ++sentence)
      for (std::int32_t at = text.offsets[static_cast<std::size_t>(sentence)];
           at < text.offsets[static_cast<std::size_t>(sentence) + 1]; ++at)
        places[static_cast<std::size_t>(next[static_cast<std::size_t>(text.tokens[static_cast<std::size_t>(at)])]++)] = {
            sentence, at};
  }

  Index words() const { return std::ssize(offsets) - 1; }
  std::span<const Place> operator[](Index word) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(word)]);
    return std::span(places).subspan(begin, static_cast<std::size_t>(offsets[static_cast<std::size_t>(word) + 1]) - begin);
  }
};

}  // namespace attn::detail
