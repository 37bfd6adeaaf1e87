#pragma once
#include "attn/core/types.hpp"
#include "attn/text/utf8.hpp"
#include "attn/text/wire_format.hpp"

namespace attn {

/// The fields of a SentencePiece model file (.spm, .model) that determine the ids. The file is a ModelProto message.
struct SentencePieceModel {
  enum class Kind { unigram = 1, bpe = 2 };
  enum class PieceKind { normal = 1, unknown, control, user_defined, unused, byte };

  struct Piece {
    std::string text;
    float score = 0;  // unigram: log-probability; BPE: higher scores merge first
    PieceKind kind = PieceKind::normal;
  };

  /// How text is normalised before it is split.
  struct Normalizer {
    std::string charsmap;  // replacement rules (see CharacterRules), or empty
    bool dummy_prefix = true, remove_extra_whitespace = true, escape_whitespace = true;
  };

  Kind kind = Kind::unigram;
  std::vector<Piece> pieces;  // in id order
  Normalizer normalizer, denormalizer;
  bool byte_fallback = false;         // unknown characters become byte pieces such as <0x41>
  bool whitespace_is_suffix = false;  // the dummy prefix becomes a suffix
  std::string begin_piece = "<s>", end_piece = "</s>", pad_piece = "<pad>";
  std::string unknown_surface = " \u2047 ";  // decoded form of an unknown piece
};

/// A trie over a set of strings. Finds all that are prefixes of a text in one pass.
class PieceTrie {
 public:
  /// Strings and their ids; the first of equal strings wins. Does not keep the strings.
  explicit PieceTrie(std::vector<std::pair<std::string_view, Token>> pieces = {}) {
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

namespace sentencepiece {

inline SentencePieceModel::Piece read_piece(std::string_view message) {
  SentencePieceModel::Piece piece;
  for (WireReader in(message); in.next();) {
    if (in.field() == 1) piece.text = in.bytes();
    if (in.field() == 2) piece.score = in.real();
    if (in.field() == 3) {
      require(in.number() >= 1 && in.number() <= 6, "a piece has the type ", in.number(), ", but types are 1 to 6");
      piece.kind = static_cast<SentencePieceModel::PieceKind>(in.number());
    }
  }
  return piece;
}

inline void read_normalizer(std::string_view message, SentencePieceModel::Normalizer& normalizer) {
  for (WireReader in(message); in.next();) {
    if (in.field() == 2) normalizer.charsmap = in.bytes();
    if (in.field() == 3) normalizer.dummy_prefix = in.number() != 0;
    if (in.field() == 4) normalizer.remove_extra_whitespace = in.number() != 0;
    if (in.field() == 5) normalizer.escape_whitespace = in.number() != 0;
  }
}

inline void read_trainer(std::string_view message, SentencePieceModel& model) {
  for (WireReader in(message); in.next();) {
    if (in.field() == 3) {
      require(in.number() == 1 || in.number() == 2, "the model has the type ", in.number(),
              ". Only unigram (1) and BPE (2) models are supported.");
      model.kind = static_cast<SentencePieceModel::Kind>(in.number());
    }
    if (in.field() == 24) model.whitespace_is_suffix = in.number() != 0;
    if (in.field() == 35) model.byte_fallback = in.number() != 0;
    if (in.field() == 44) model.unknown_surface = in.bytes();
    if (in.field() == 46) model.begin_piece = in.bytes().empty() ? "<s>" : in.bytes();
    if (in.field() == 47) model.end_piece = in.bytes().empty() ? "</s>" : in.bytes();
    if (in.field() == 48) model.pad_piece = in.bytes().empty() ? "<pad>" : in.bytes();
  }
}

inline constexpr std::string_view space_mark = "\u2581";  // stands for a space in pieces

/// The replacement rules of a normaliser. File format: the length of the trie in bytes; the trie as a double array of
/// little-endian 32-bit units; the replacements, each null-terminated.
class CharacterRules {
 public:
  explicit CharacterRules(std::string_view charsmap) {
    if (charsmap.empty()) return;
    require(charsmap.size() > 4, "its normalisation rules are cut short");
    const std::uint64_t length = unit_at(charsmap, 0);
    require(length % 4 == 0 && length < charsmap.size() - 4, "its normalisation rules need a trie of ", length,
            " bytes, but have ", charsmap.size() - 4);
    units_.resize(length / 4);
    for (std::size_t i = 0; i < units_.size(); ++i) units_[i] = unit_at(charsmap, i + 1);
    replacements_ = charsmap.substr(4 + length);
  }

  /// Finds the longest prefix of the text that has a rule. Returns its length, or 0, and the replacement.
  std::pair<std::size_t, std::string_view> longest(std::string_view text) const {
    std::pair<std::size_t, std::string_view> best{0, {}};
    if (units_.empty()) return best;
    std::size_t node = offset(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      node ^= byte;
      if (node >= units_.size() || label(units_[node]) != byte) break;
      const std::uint32_t unit = units_[node];
      node ^= offset(unit);
      if ((unit >> 8 & 1) == 0) continue;
      require(node < units_.size(),
              "SentencePiece: the trie of the normalisation rules leads outside it: the model is damaged");
      const std::uint32_t value = units_[node] & 0x7FFFFFFF;
      require(value < replacements_.size(), "SentencePiece: a normalisation rule has no replacement: the model is damaged");
      const std::string_view from = std::string_view(replacements_).substr(value);
      best = {i + 1, from.substr(0, from.find('\0'))};
    }
    return best;
  }

 private:
  static std::uint32_t unit_at(std::string_view bytes, std::size_t index) {
    return static_cast<std::uint32_t>(little_endian(bytes.substr(4 * index, 4)));
  }
  static std::size_t offset(std::uint32_t unit) { return std::size_t{unit >> 10} << ((unit & 1U << 9) >> 6); }
  static std::uint32_t label(std::uint32_t unit) { return unit & (1U << 31 | 0xFF); }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

/// Normalises text before it is split: applies the rules and merges, trims and marks spaces.
class TextNormalizer {
 public:
  TextNormalizer(const SentencePieceModel::Normalizer& options, bool whitespace_is_suffix)
      : rules_(options.charsmap),
        prefix_(options.dummy_prefix && !whitespace_is_suffix),
        suffix_(options.dummy_prefix && whitespace_is_suffix),
        trims_(options.remove_extra_whitespace),
        space_(options.escape_whitespace ? space_mark : " ") {}

  /// Leaves prefixes of the text that are in `verbatim` unchanged.
  std::string operator()(std::string_view text, const PieceTrie& verbatim) const {
    while (trims_ && !text.empty()) {
      const auto [length, becomes] = first_of(text, verbatim);
      if (becomes != " ") break;
      text.remove_prefix(length);
    }
    std::string normal;
    if (text.empty()) return normal;
    normal.reserve(text.size() * 2);
    if (prefix_) normal += space_;
    bool after_space = trims_;
    while (!text.empty()) {
      auto [length, becomes] = first_of(text, verbatim);
      text.remove_prefix(length);
      while (after_space && becomes.starts_with(' ')) becomes.remove_prefix(1);
      if (becomes.empty()) continue;
      for (const char byte : becomes) byte == ' ' ? normal += space_ : normal += byte;
      after_space = trims_ && becomes.ends_with(' ');
    }
    while (trims_ && normal.ends_with(space_)) normal.resize(normal.size() - space_.size());
    if (suffix_) normal += space_;
    return normal;
  }

 private:
  /// The byte length of the first character, or of the longest prefix in `verbatim` or with a rule, and its replacement.
  std::pair<std::size_t, std::string_view> first_of(std::string_view text, const PieceTrie& verbatim) const {
    if (const std::size_t length = verbatim.longest(text); length > 0) return {length, text.substr(0, length)};
    if (const auto rule = rules_.longest(text); rule.first > 0) return rule;
    const utf8::Decoded character = utf8::decode(text, 0);
    if (!character.valid) return {1, "\uFFFD"};
    return {character.length, text.substr(0, character.length)};
  }

  CharacterRules rules_;
  bool prefix_, suffix_, trims_;
  std::string_view space_;
};

}  // namespace sentencepiece

inline SentencePieceModel read_sentencepiece_model(std::string_view bytes) {
  SentencePieceModel model;
  try {
    for (WireReader in(bytes); in.next();) {
      if (in.field() == 1) model.pieces.push_back(sentencepiece::read_piece(in.bytes()));
      if (in.field() == 2) sentencepiece::read_trainer(in.bytes(), model);
      if (in.field() == 3) sentencepiece::read_normalizer(in.bytes(), model.normalizer);
      if (in.field() == 5) sentencepiece::read_normalizer(in.bytes(), model.denormalizer);
    }
  } catch (const Error& error) {
    fail("not a SentencePiece model, or a damaged one, at piece ", model.pieces.size(), ": ", error.what());
  }
  require(!model.pieces.empty(), "not a SentencePiece model: it has no pieces");
  return model;
}

}  // namespace attn
