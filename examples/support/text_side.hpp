#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "attn/text/byte_bpe.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "papers/plain_words.hpp"

/// One language of a model: its vocabulary, whichever kind it is, and the preparation that its text was trained on. Is a
/// Tokenizer, so that a program has to be compiled for this one only.
class TextSide {
  auto ask(const auto& question) const { return std::visit(question, vocabulary_); }

 public:
  explicit TextSide(attn::ByteBpe vocabulary) : vocabulary_(std::move(vocabulary)) {}
  /// With a language, lines become plain words (papers/plain_words.hpp) first; without, they are words with spaces already.
  TextSide(attn::WordVocabulary vocabulary, std::optional<papers::Language> plain)
      : vocabulary_(std::move(vocabulary)), plain_(plain) {}

  std::vector<attn::Token> encode(std::string_view text) const {
    std::vector<attn::Token> ids;
    encode(text, ids);
    return ids;
  }
  void encode(std::string_view text, std::vector<attn::Token>& ids) const {
    ask([&](const auto& v) { plain_ ? v.encode(papers::plain_words(text, *plain_), ids) : v.encode(text, ids); });
  }
  std::string decode(std::span<const attn::Token> ids) const {
    return ask([&](const auto& v) { return v.decode(ids); });
  }
  attn::Token begin() const {
    return ask([](const auto& v) { return v.begin(); });
  }
  attn::Token end() const {
    return ask([](const auto& v) { return v.end(); });
  }
  attn::Token pad() const {
    return ask([](const auto& v) { return v.pad(); });
  }
  attn::Token unknown() const {
    return ask([](const auto& v) { return v.unknown(); });
  }
  attn::Index size() const {
    return ask([](const auto& v) { return v.size(); });
  }
  attn::Index padded_size() const {
    return ask([](const auto& v) { return v.padded_size(); });
  }
  std::uint64_t hash() const {
    return ask([](const auto& v) { return v.hash(); });
  }

  /// Whether its tokens are whole words, so that one may stand for all that are unknown.
  bool of_words() const { return std::holds_alternative<attn::WordVocabulary>(vocabulary_); }

  /// A token as a map names it: a piece that continues a word begins with a dot, and a lone space can be seen.
  std::string name(attn::Token id) const {
    if (id >= size()) return "?";  // an untrained model may pick padding
    const auto at = static_cast<std::size_t>(id);
    if (const auto* words = std::get_if<attn::WordVocabulary>(&vocabulary_)) return words->words()[at];
    const auto& pieces = std::get<attn::ByteBpe>(vocabulary_);
    if (pieces.is_special(id)) return pieces.tokens()[at];
    const std::string text = pieces.decode(std::span(&id, 1));
    if (text == " ") return "\u2423";
    return text.starts_with(' ') ? text.substr(1) : "\u00b7" + text;
  }

 private:
  std::variant<attn::ByteBpe, attn::WordVocabulary> vocabulary_;
  std::optional<papers::Language> plain_;
};

static_assert(attn::Tokenizer<TextSide>);
