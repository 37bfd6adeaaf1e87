#pragma once
#include <variant>

#include "attn/core/file.hpp"
#include "attn/text/sentencepiece_cutters.hpp"
#include "attn/text/tokenizer.hpp"

namespace attn {

/// Runs a trained SentencePiece model (Kudo and Richardson 2018), unigram or BPE, with the same ids and text as the
/// original. Immutable, so threads can share one.
class SentencePiece : public TokenizerBase<SentencePiece> {
 public:
  using Kind = SentencePieceModel::PieceKind;

  explicit SentencePiece(SentencePieceModel model);

  using TokenizerBase<SentencePiece>::encode;
  /// Appends the ids of the text. Each byte that is not UTF-8 counts as U+FFFD. Names of control symbols are plain text;
  /// names of user-defined symbols map to the symbols.
  void encode(std::string_view text, std::vector<Token>& ids) const {
    for_each_piece(text, [&](std::string_view, Token id) { ids.push_back(id); });
  }
  /// The pieces of the text. An unknown piece is the text it covers.
  std::vector<std::string> pieces(std::string_view text) const {
    std::vector<std::string> all;
    for_each_piece(text, [&](std::string_view piece, Token) { all.emplace_back(piece); });
    return all;
  }

  /// Decodes ids, skipping control symbols. Bytes that form no whole character become U+FFFD.
  std::string decode(std::span<const Token> ids) const {
    std::vector<std::string> pieces;
    for (const Token id : ids) {
      require(id >= 0 && id < padded_size(), "SentencePiece: no piece has the id ", id, ": the vocabulary has ", size());
      if (id < size()) pieces.push_back(piece(id).text);  // an untrained model may predict padding ids
    }
    return decode_pieces(pieces);
  }
  /// Joins pieces to text. A piece outside the vocabulary is copied as is.
  std::string decode_pieces(std::span<const std::string> pieces) const {
    const auto& options = model_.normalizer;
    std::string text, bytes;
    const auto add_bytes = [&] {
      for (const utf8::Character& character : utf8::Characters(bytes)) {
        if (character.valid) text += character.bytes;
        for (std::size_t i = 0; i < character.length && !character.valid; ++i) text += "\uFFFD";  // one for each byte
      }
      bytes.clear();
    };
    bool first = true, had_prefix = false;  // strips the dummy prefix from the start of the text
    for (const std::string& written : pieces) {
      const Token id = id_of(written);
      if (piece(id).kind == Kind::byte) {
        bytes += static_cast<char>(*byte_of(written));
        continue;
      }
      add_bytes();
      if (had_prefix || !text.empty()) first = false;
      had_prefix = false;
      if (piece(id).kind == Kind::control) continue;
      if (id == unknown_) {
        text += written == piece(id).text ? model_.unknown_surface : written;
        continue;
      }
      std::string_view rest = written;
      if (first && (options.dummy_prefix || options.remove_extra_whitespace) &&
          rest.starts_with(sentencepiece::space_mark)) {
        rest.remove_prefix(sentencepiece::space_mark.size());
        had_prefix = !options.remove_extra_whitespace;
      }
      text += replaced(rest, sentencepiece::space_mark, " ");
    }
    add_bytes();
    return denormalize_ ? (*denormalize_)(text, PieceTrie()) : text;
  }

  std::string name(Token id) const {
    const auto& [text, score, kind] = piece(id);
    if (kind == Kind::control || kind == Kind::unknown || kind == Kind::byte) return text;
    return piece_name(text, sentencepiece::space_mark);
  }

  Index size() const { return static_cast<Index>(model_.pieces.size()); }
  std::uint64_t hash() const {
    ContentHash hash;
    hash.add("SentencePiece");
    for (const auto& [text, score, kind] : model_.pieces)
      hash.add(text).add(std::uint64_t{std::bit_cast<std::uint32_t>(score)}).add(static_cast<std::uint64_t>(kind));
    for (const auto& [charsmap, dummy_prefix, trims, escapes] : {model_.normalizer, model_.denormalizer})
      hash.add(charsmap).add(std::uint64_t{dummy_prefix} + 2 * trims + 4 * escapes);
    hash.add({model_.begin_piece, model_.end_piece, model_.pad_piece, model_.unknown_surface});
    const auto kind = static_cast<std::uint64_t>(model_.kind);
    return hash.add(kind + 8 * model_.byte_fallback + 16 * model_.whitespace_is_suffix).value();
  }

 private:
  /// Calls take(piece, id) for each piece of the text, in order.
  template <class Take>
  void for_each_piece(std::string_view text, const Take& take) const {
    const std::string normal = normalize_(text, user_defined_);
    require(normal.size() < 0x7fffffff, "SentencePiece: a text of ", normal.size(),
            " bytes is too long. Encode it line by line.");
    std::vector<sentencepiece::Cut> cuts;
    if (const auto* unigram = std::get_if<sentencepiece::UnigramCutter>(&cutter_))
      unigram->cut(normal, cuts);
    else
      std::get<sentencepiece::BpeCutter>(cutter_).cut(normal, user_defined_, cuts);

    for (std::size_t i = 0; i < cuts.size(); ++i) {
      auto [whole, id] = cuts[i];
      if (id != unknown_) {
        take(whole, id);
      } else if (model_.byte_fallback) {
        for (const char byte : whole) {
          const Token of_byte = bytes_[static_cast<unsigned char>(byte)];
          take(piece(of_byte).text, of_byte);
        }
      } else {  // adjacent unknown characters form one piece
        for (; i + 1 < cuts.size() && cuts[i + 1].id == unknown_; ++i)
          whole = {whole.data(), whole.size() + cuts[i + 1].text.size()};
        take(whole, unknown_);
      }
    }
  }
  static std::optional<unsigned char> byte_of(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return {};
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::size_t high = digits.find(piece[3]), low = digits.find(piece[4]);
    if (high == digits.npos || low == digits.npos) return {};
    return static_cast<unsigned char>(16 * high + low);
  }
  const SentencePieceModel::Piece& piece(Token id) const { return model_.pieces[static_cast<std::size_t>(id)]; }
  Token id_of(std::string_view piece) const { return symbols_.get(piece, texts_.get(piece, unknown_)); }

  SentencePieceModel model_;
  detail::StringMap<Token> symbols_, texts_;  // symbols_: unknown, control and byte pieces; texts_: all others
  std::array<Token, 256> bytes_{};            // ids of the byte pieces, for byte fallback
  PieceTrie user_defined_;
  sentencepiece::TextNormalizer normalize_;
  std::optional<sentencepiece::TextNormalizer> denormalize_;
  std::variant<std::monostate, sentencepiece::UnigramCutter, sentencepiece::BpeCutter> cutter_;
};

static_assert(Tokenizer<SentencePiece>);

/// Reads a model file of SentencePiece, such as source.spm or spm.model.
inline SentencePiece load_sentencepiece(const std::filesystem::path& path) {
  try {
    return SentencePiece(read_sentencepiece_model(read_file(path)));
  } catch (const Error& error) {
    const std::string sentence = error.what();
    fail(sentence.find(path.string()) == sentence.npos ? path.string() + ": " : "", sentence);
  }
}

inline SentencePiece::SentencePiece(SentencePieceModel model)
    : model_(std::move(model)), normalize_(model_.normalizer, model_.whitespace_is_suffix) {
  std::vector<std::pair<std::string_view, Token>> user_defined;
  bytes_.fill(-1);
  require(model_.pieces.size() < 0x7fffffff, "too many pieces");
  for (Token id = 0; id < size(); ++id) {
    const auto& [text, score, kind] = piece(id);
    require(!text.empty(), "piece ", id, " is empty: the model is damaged");
    const bool of_text = kind == Kind::normal || kind == Kind::user_defined || kind == Kind::unused;
    require((of_text ? texts_ : symbols_).emplace(text, id).second, "duplicate piece '", text, "'");
    if (kind == Kind::user_defined) user_defined.emplace_back(text, id);
    if (kind == Kind::unknown) {
      require(unknown_ < 0, "there are two unknown pieces, ", unknown_, " and ", id);
      unknown_ = id;
    }
    if (kind == Kind::byte) {
      const auto byte = byte_of(text);
      require(byte.has_value(), "the byte piece '", text, "' must have the form <0x41>");
      bytes_[*byte] = id;
    }
  }
  require(unknown_ >= 0, "there is no piece for unknown text");
  for (std::size_t byte = 0; byte < bytes_.size() && model_.byte_fallback; ++byte)
    require(bytes_[byte] >= 0, "there is no piece for byte ", byte, ", but the model encodes unknown text as bytes");
  const auto control = [this](std::string_view name) {  // -1 if the model has none
    const Token id = id_of(name);
    return piece(id).kind == Kind::control ? id : -1;
  };
  begin_ = control(model_.begin_piece), end_ = control(model_.end_piece), pad_ = control(model_.pad_piece);
  user_defined_ = PieceTrie(std::move(user_defined));
  if (!model_.denormalizer.charsmap.empty()) denormalize_.emplace(model_.denormalizer, false);
  if (model_.kind == SentencePieceModel::Kind::unigram)
    cutter_.emplace<sentencepiece::UnigramCutter>(model_, unknown_);
  else
    cutter_.emplace<sentencepiece::BpeCutter>(model_, unknown_);
}

}  // namespace attn
