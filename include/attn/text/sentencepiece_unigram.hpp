#pragma once
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attn/text/piece_trie.hpp"
#include "attn/text/sentencepiece_model.hpp"

namespace attn::sentencepiece {

/// A piece of normalised text and its id.
struct Cut {
  std::string_view text;
  Token id;
};

/// Byte length of the first character, from its lead byte. Never more than text.size().
inline std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  return std::min<std::size_t>(lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4, text.size());
}

/// Splits text into the pieces with the highest total log-probability, by the Viterbi algorithm (Kudo 2018).
class UnigramCutter {
 public:
  UnigramCutter(const SentencePieceModel& model, Token unknown) : unknown_(unknown) {
    using Kind = SentencePieceModel::PieceKind;
    float lowest = FLT_MAX;
    std::vector<std::pair<std::string_view, Token>> used;
    for (const auto& [text, score, kind] : model.pieces) {
      const auto id = static_cast<Token>(scores_.size());
      scores_.push_back(score);
      user_defined_.push_back(kind == Kind::user_defined);
      if (kind == Kind::normal || kind == Kind::user_defined) used.emplace_back(text, id);
      if (kind == Kind::normal) lowest = std::min(lowest, score);
    }
    trie_ = PieceTrie(std::move(used));
    unknown_score_ = lowest - 10;
  }

  void cut(std::string_view text, std::vector<Cut>& cuts) const {
    struct End {
      float score = 0;          // of the best split up to here; float, to round as SentencePiece does
      std::int32_t start = -1;  // of the last piece
      Token id = -1;
    };
    std::vector<End> ends(text.size() + 1);
    std::size_t furthest = 0;  // end of any piece so far
    for (std::size_t start = 0; start < text.size();) {
      const std::string_view rest = text.substr(start);
      // Only differences of scores matter. Rebase large sums so that small scores are not rounded away.
      if (const float all = ends[start].score; std::abs(all) > 1e5F)
        for (std::size_t end = start; end <= furthest; ++end) ends[end].score -= all;
      const float so_far = ends[start].score;
      const std::size_t character = character_length(rest);
      bool covered = false;  // some piece is exactly the first character
      const auto offer = [&](std::size_t length, float score, Token id) {
        End& end = ends[start + length];
        furthest = std::max(furthest, start + length);
        if (end.start < 0 || score + so_far > end.score) end = {score + so_far, static_cast<std::int32_t>(start), id};
      };
      trie_.for_each_prefix(rest, [&](std::size_t length, Token id) {
        const auto at = static_cast<std::size_t>(id);
        offer(length, user_defined_[at] ? static_cast<float>(0.1 * static_cast<double>(length - 1)) : scores_[at], id);
        covered = covered || length == character;
      });
      if (!covered) offer(character, unknown_score_, unknown_);
      start += character;
    }
    const auto first = static_cast<std::ptrdiff_t>(cuts.size());
    for (std::size_t end = text.size(); end > 0;) {
      const auto start = static_cast<std::size_t>(ends[end].start);
      cuts.push_back({text.substr(start, end - start), ends[end].id});
      end = start;
    }
    std::reverse(cuts.begin() + first, cuts.end());
  }

 private:
  PieceTrie trie_;
  std::vector<float> scores_;
  std::vector<bool> user_defined_;
  Token unknown_;
  float unknown_score_ = 0;
};

}  // namespace attn::sentencepiece
