#pragma once
#include <cfloat>

#include "attn/text/bpe_merges.hpp"
#include "attn/text/sentencepiece_model.hpp"
#include "attn/text/tokenizer.hpp"

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

/// Merges neighbouring characters that form a piece, highest scores first, ties from left to right (Sennrich et al. 2016).
class BpeCutter {
 public:
  BpeCutter(const SentencePieceModel& model, Token unknown) : unknown_(unknown) {
    using Kind = SentencePieceModel::PieceKind;
    Token id = 0;
    for (const auto& [text, score, kind] : model.pieces) {
      if (kind == Kind::normal || kind == Kind::user_defined || kind == Kind::unused)
        merged_.emplace(text, Merged{rank_of(score), kind == Kind::unused ? unknown : id});
      ++id;
    }
  }

  /// User-defined pieces are never merged.
  void cut(std::string_view text, const PieceTrie& user_defined, std::vector<Cut>& cuts) const {
    struct Item {
      std::string_view text;
      bool whole;  // a user-defined piece
    };
    std::vector<Item> items;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(items.back().text.size())) {
      const std::size_t whole = user_defined.longest(rest), length = whole > 0 ? whole : character_length(rest);
      items.push_back({rest.substr(0, length), whole > 0});
    }
    std::unordered_map<std::string_view, std::string_view> left_of;  // first half of each unused piece, to split it again
    const auto joined = [](const Item& a, const Item& b) {
      return std::string_view(a.text.data(), a.text.size() + b.text.size());
    };
    const auto rank = [&](const Item& a, const Item& b) -> Index {
      const auto found = a.whole || b.whole ? merged_.end() : merged_.find(joined(a, b));
      if (found == merged_.end()) return -1;
      if (found->second.id == unknown_) left_of[joined(a, b)] = a.text;
      return found->second.rank;
    };
    merge_neighbours(items, rank, [&](Item& a, const Item& b, Index) { a.text = joined(a, b); });

    std::vector<std::string_view> parts;  // splits unused pieces until every part is in use or unknown
    for (const Item& item : items) {
      parts.push_back(item.text);
      while (!parts.empty()) {
        const std::string_view part = parts.back();
        parts.pop_back();
        const Token id = merged_.get(part, {0, unknown_}).id;
        const auto left = id == unknown_ ? left_of.find(part) : left_of.end();
        if (left == left_of.end()) {
          cuts.push_back({part, id});
        } else {
          parts.push_back(part.substr(left->second.size()));
          parts.push_back(left->second);
        }
      }
    }
  }

 private:
  struct Merged {
    Index rank;
    Token id;  // the unknown id for an unused piece
  };
  /// Higher scores have lower ranks: the bits of a float, in the order of the floats.
  static Index rank_of(float score) {
    const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // no -0
    return bits & 1U << 31 ? bits : bits ^ 0x7FFFFFFFU;
  }

  detail::StringMap<Merged> merged_;
  Token unknown_;
};

}  // namespace attn::sentencepiece
