#pragma once
#include "attn/text/bpe_merges.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// GPT-2's mapping of bytes to printable characters, so that tokens fit into JSON and text files. Printable Latin-1 maps to
/// itself; the other bytes map in order to U+0100 and up. A space becomes U+0120, a newline U+010A.
namespace byte_alphabet {

inline constexpr std::array<char32_t, 256> letters = [] {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool prints = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[byte] = prints ? byte : next++;
  }
  return table;
}();

inline std::string written(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) utf8::append(text, letters[static_cast<unsigned char>(byte)]);
  return text;
}

/// Decodes characters to bytes; empty if a character stands for no byte.
inline std::optional<std::string> read(std::string_view text) {
  static constexpr auto bytes = [] {
    std::array<int, 256 + 68> table{};  // 68 bytes do not stand for themselves
    table.fill(-1);
    for (std::size_t byte = 0; byte < 256; ++byte) table[letters[byte]] = static_cast<int>(byte);
    return table;
  }();
  std::string read;
  for (const utf8::Character& letter : utf8::Characters(text)) {
    if (!letter.valid || letter.code >= bytes.size() || bytes[letter.code] < 0) return std::nullopt;
    read += static_cast<char>(bytes[letter.code]);
  }
  return read;
}

}  // namespace byte_alphabet

/// Byte-level byte-pair encoding, compatible with GPT-2 and BART (Sennrich et al. 2016; Radford et al. 2019). Splits text
/// into words (for_each_word), starts each word as its bytes and applies merges in rank order until none applies.
/// Immutable, so threads can share one.
class ByteBpe : public TokenizerBase<ByteBpe> {
 public:
  /// Tokens in id order, in the byte alphabet; merges in rank order.
  ByteBpe(std::vector<std::string> tokens, std::vector<Merge> merges);

  using TokenizerBase<ByteBpe>::encode;
  /// Appends the ids of the text. Treats names of special tokens as plain text.
  void encode(std::string_view text, std::vector<Token>& ids) const {
    require(text.size() < 0x7fffffff, "byte-level BPE: a text of ", text.size(),
            " bytes is too long. Encode it line by line.");
    utf8::require_valid(text);
    BpeMerges::Workspace work;
    for_each_word(text, [&](std::string_view word) {
      const Token known = whole_words_.get(word, -1);
      known >= 0 ? ids.push_back(known) : merge_word(word, work, ids);
    });
  }
  /// Like encode(), but maps "<s>" and other special-token names to the special tokens.
  std::vector<Token> encode_with_specials(std::string_view text) const {
    utf8::require_valid(text);
    std::vector<Token> ids;
    std::size_t start = 0;
    for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
      const auto found = std::find_if(specials_.begin(), specials_.end(), [&](Token id) {
        return text.substr(at).starts_with(tokens_[static_cast<std::size_t>(id)]);
      });
      if (found != specials_.end()) {
        encode(text.substr(start, at - start), ids);
        ids.push_back(*found);
        start = at += tokens_[static_cast<std::size_t>(*found)].size();
      } else {
        ++at;
      }
    }
    encode(text.substr(start), ids);
    return ids;
  }

  /// Decodes ids, skipping special tokens. Bytes that form no whole character become U+FFFD.
  std::string decode(std::span<const Token> ids) const {
    std::string text;
    for (const Token id : ids) {
      require(id >= 0 && id < padded_size(), "byte-level BPE: no token has the id ", id, ": the vocabulary has ", size());
      if (id < size() && !is_special(id))
        text += bytes_[static_cast<std::size_t>(id)];  // an untrained model may predict padding ids
    }
    return utf8::repair(std::move(text));
  }

  /// A readable form of a token (see piece_name).
  std::string name(Token id) const {
    const auto at = static_cast<std::size_t>(id);
    return is_special(id) ? tokens_[at] : piece_name(bytes_[at], " ");
  }

  std::optional<Token> mask() const { return mask_; }
  bool is_special(Token id) const { return std::find(specials_.begin(), specials_.end(), id) != specials_.end(); }

  Index size() const { return static_cast<Index>(tokens_.size()); }
  std::uint64_t hash() const {
    ContentHash hash;
    hash.add("byte-level BPE").add(tokens_);
    for (const auto& [left, right, result] : merges())
      hash.add(static_cast<std::uint64_t>(left)).add(static_cast<std::uint64_t>(right));
    return hash.value();
  }

  const std::vector<std::string>& tokens() const { return tokens_; }
  const std::vector<Merge>& merges() const { return merges_.list(); }

 private:
  void merge_word(std::string_view word, BpeMerges::Workspace& work, std::vector<Token>& ids) const {
    work.word.clear();
    for (const char byte : word) work.word.push_back(byte_tokens_[static_cast<unsigned char>(byte)]);
    merges_.apply(work.word, work, ids);
  }

  std::vector<std::string> tokens_;  // as in the files
  std::vector<std::string> bytes_;   // decoded form of each token
  BpeMerges merges_;
  std::array<Token, 256> byte_tokens_{};
  detail::StringMap<Token> whole_words_;  // words that encode to one token
  std::vector<Token> specials_;
  std::optional<Token> mask_;
};

static_assert(Tokenizer<ByteBpe>);

inline ByteBpe::ByteBpe(std::vector<std::string> tokens, std::vector<Merge> merges)
    : tokens_(std::move(tokens)), merges_(std::move(merges)) {
  std::unordered_map<std::string_view, Token> ids;
  for (const std::string& token : tokens_) {
    const bool added = ids.emplace(token, static_cast<Token>(ids.size())).second;
    require(added, "byte-level BPE: duplicate token '", token, "' in the vocabulary");
  }
  const auto find = [&](std::string_view name) {
    const auto found = ids.find(name);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  };

  // GPT-2's own files have a single special token, which takes every role.
  const auto special = [&](std::string_view name) {
    const auto id = find(name) ? find(name) : find("<|endoftext|>");
    require(id.has_value(), "byte-level BPE: the vocabulary has no token ", name, ". Add it.");
    if (!is_special(*id)) specials_.push_back(*id);
    return *id;
  };
  begin_ = special("<s>"), pad_ = special("<pad>"), end_ = special("</s>"), unknown_ = special("<unk>");
  mask_ = find("<mask>");
  if (mask_) specials_.push_back(*mask_);

  for (std::size_t byte = 0; byte < 256; ++byte) {
    const auto id = find(byte_alphabet::written(std::string(1, static_cast<char>(byte))));
    require(id.has_value(), "byte-level BPE: the vocabulary has no token for byte ", byte,
            ". Train it with all 256 bytes, so that it can encode any text.");
    byte_tokens_[byte] = *id;
  }
  for (const std::string& token : tokens_) bytes_.push_back(byte_alphabet::read(token).value_or(token));

  const auto text = [&](Token id) -> const std::string& {
    require(id >= 0 && id < size(), "byte-level BPE: a merge has the id ", id, ", but the vocabulary has ", size(),
            " tokens");
    return tokens_[static_cast<std::size_t>(id)];
  };
  for (const auto& [left, right, result] : this->merges())
    require(text(left) + text(right) == text(result), "byte-level BPE: a merge of '", text(left), "' and '", text(right),
            "' has the wrong result '", text(result), "'");

  // Most words are a single token and are looked up here without merging. A token that merging never produces is left out.
  BpeMerges::Workspace work;
  std::vector<Token> merged;
  whole_words_.reserve(tokens_.size());
  for (Token id = 0; id < size(); ++id) {
    const std::string& word = bytes_[static_cast<std::size_t>(id)];
    merged.clear();
    merge_word(word, work, merged);
    if (merged == std::vector{id}) whole_words_.emplace(word, id);
  }
}

}  // namespace attn
