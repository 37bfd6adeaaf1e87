#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/sentencepiece.hpp"
#include "attn/text/string_map.hpp"

namespace attn {

/// One side of a Marian's text, as Hugging Face's MarianTokenizer has it: pieces of a SentencePiece model, numbered by a
/// vocabulary that both languages may share. A language code at the beginning of a text, >>deu<<, is one token if the
/// vocabulary has it.
class MarianTokenizer {
 public:
  /// The vocabulary's tokens in the order of their ids: pieces, and </s>, <unk> and <pad>.
  MarianTokenizer(SentencePiece pieces, std::vector<std::string> vocabulary)
      : pieces_(std::move(pieces)), vocabulary_(std::move(vocabulary)) {
    for (const std::string& token : vocabulary_)
      require(ids_.emplace(token, static_cast<Token>(ids_.size())).second, "the token '", token,
              "' is in the vocabulary twice");
    const auto special = [&](const char* name) {
      const auto found = ids_.find(name);
      require(found != ids_.end(), "the vocabulary has no token ", name, ": it is not that of a Marian");
      return found->second;
    };
    end_ = special("</s>"), unknown_ = special("<unk>"), pad_ = special("<pad>");
  }

  std::vector<Token> encode(std::string_view text) const {
    std::vector<Token> ids;
    encode(text, ids);
    return ids;
  }
  /// Appends the ids of the text. Names of special tokens in it are text like any other.
  void encode(std::string_view text, std::vector<Token>& ids) const {
    if (text.starts_with(">>")) {
      const auto after = text.find("<<");
      const auto code = after == text.npos ? ids_.end() : ids_.find(text.substr(0, after + 2));
      if (code != ids_.end()) {
        ids.push_back(code->second);
        text.remove_prefix(after + 2);
      }
    }
    for (const std::string& piece : pieces_.pieces(text)) {
      const auto found = ids_.find(piece);
      ids.push_back(found == ids_.end() ? unknown_ : found->second);
    }
  }

  /// The text of ids. Special tokens leave no trace, and neither do ids that a model has beyond its vocabulary.
  std::string decode(std::span<const Token> ids) const {
    std::vector<std::string> tokens;
    for (const Token id : ids) {
      require(id >= 0, "Marian's tokenizer: no token has the id ", id);
      if (id < size() && !is_special(id)) tokens.push_back(vocabulary_[static_cast<std::size_t>(id)]);
    }
    std::string text = pieces_.decode_pieces(tokens);
    for (std::size_t at = 0; (at = text.find(sentencepiece::space_mark, at)) != text.npos;)
      text.replace(at, sentencepiece::space_mark.size(), " ");
    const auto first = text.find_first_not_of(" \t\n\v\f\r");
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\n\v\f\r") + 1 - first);
  }

  /// A token as people read it: a piece that continues a word begins with a dot, unless it is all punctuation.
  std::string name(Token id) const {
    const std::string& token = vocabulary_[static_cast<std::size_t>(id)];
    return is_special(id) ? token : piece_name(token, sentencepiece::space_mark);
  }

  Token begin() const { return pad_; }  // a translation begins with what pads others
  Token end() const { return end_; }
  Token pad() const { return pad_; }
  Token unknown() const { return unknown_; }
  bool is_special(Token id) const { return id == end_ || id == pad_ || id == unknown_; }
  Index size() const { return static_cast<Index>(vocabulary_.size()); }
  Index padded_size() const { return padded_vocabulary(size()); }
  std::uint64_t hash() const {
    ContentHash hash;
    hash.add("Marian");
    hash.add(pieces_.hash());
    for (const std::string& token : vocabulary_) hash.add(token);
    return hash.value();
  }

  const SentencePiece& pieces() const { return pieces_; }

 private:
  SentencePiece pieces_;
  std::vector<std::string> vocabulary_;
  detail::StringMap<Token> ids_;
  Token end_ = -1, unknown_ = -1, pad_ = -1;
};

static_assert(Tokenizer<MarianTokenizer>);

}  // namespace attn
