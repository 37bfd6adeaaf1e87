#pragma once
#include "attn/text/sentencepiece.hpp"

namespace attn {

/// Tokenizer of one language of a Marian model, equivalent to Hugging Face's MarianTokenizer: SentencePiece pieces with ids
/// from a vocabulary that both languages may share. A language code at the start of a text, such as >>deu<<, becomes one
/// token if it is in the vocabulary.
class MarianTokenizer : public TokenizerBase<MarianTokenizer> {
 public:
  /// The vocabulary in id order: pieces, </s>, <unk> and <pad>.
  MarianTokenizer(SentencePiece pieces, std::vector<std::string> vocabulary)
      : pieces_(std::move(pieces)), vocabulary_(std::move(vocabulary)) {
    for (const std::string& token : vocabulary_)
      require(ids_.emplace(token, static_cast<Token>(ids_.size())).second, "duplicate token '", token,
              "' in the vocabulary");
    const auto special = [&](const char* name) {
      const Token id = ids_.get(name, -1);
      require(id >= 0, "the vocabulary has no token ", name, ": this is not a Marian vocabulary");
      return id;
    };
    end_ = special("</s>"), unknown_ = special("<unk>"), pad_ = special("<pad>");
    begin_ = pad_;  // Marian decoders start with the pad token
  }

  using TokenizerBase<MarianTokenizer>::encode;
  /// Appends the ids of the text. Treats names of special tokens as plain text.
  void encode(std::string_view text, std::vector<Token>& ids) const {
    if (text.starts_with(">>")) {
      const auto after = text.find("<<");
      const Token code = after == text.npos ? -1 : ids_.get(text.substr(0, after + 2), -1);
      if (code >= 0) {
        ids.push_back(code);
        text.remove_prefix(after + 2);
      }
    }
    for (const std::string& piece : pieces_.pieces(text)) ids.push_back(ids_.get(piece, unknown_));
  }

  /// Decodes ids, skipping special tokens and padding ids beyond the vocabulary.
  std::string decode(std::span<const Token> ids) const {
    std::vector<std::string> tokens;
    for (const Token id : ids) {
      require(id >= 0, "Marian's tokenizer: no token has the id ", id);
      if (id < size() && !is_special(id)) tokens.push_back(vocabulary_[static_cast<std::size_t>(id)]);
    }
    const std::string text = replaced(pieces_.decode_pieces(tokens), sentencepiece::space_mark, " ");
    const auto first = text.find_first_not_of(" \t\n\v\f\r");
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\n\v\f\r") + 1 - first);
  }

  std::string name(Token id) const {
    const std::string& token = vocabulary_[static_cast<std::size_t>(id)];
    return is_special(id) ? token : piece_name(token, sentencepiece::space_mark);
  }

  bool is_special(Token id) const { return id == end_ || id == pad_ || id == unknown_; }
  Index size() const { return static_cast<Index>(vocabulary_.size()); }
  std::uint64_t hash() const { return ContentHash().add("Marian").add(pieces_.hash()).add(vocabulary_).value(); }

 private:
  SentencePiece pieces_;
  std::vector<std::string> vocabulary_;
  detail::StringMap<Token> ids_;
};

static_assert(Tokenizer<MarianTokenizer>);

}  // namespace attn
