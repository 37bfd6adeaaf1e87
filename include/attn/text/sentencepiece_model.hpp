#pragma once
#include <string>
#include <string_view>
#include <vector>

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
  const auto name = [](std::string_view text, const char* otherwise) {
    return std::string(text.empty() ? otherwise : text);
  };
  for (WireReader in(message); in.next();) {
    if (in.field() == 3) {
      require(in.number() == 1 || in.number() == 2, "the model has the type ", in.number(),
              ". Only unigram (1) and BPE (2) models are supported.");
      model.kind = static_cast<SentencePieceModel::Kind>(in.number());
    }
    if (in.field() == 24) model.whitespace_is_suffix = in.number() != 0;
    if (in.field() == 35) model.byte_fallback = in.number() != 0;
    if (in.field() == 44) model.unknown_surface = in.bytes();
    if (in.field() == 46) model.begin_piece = name(in.bytes(), "<s>");
    if (in.field() == 47) model.end_piece = name(in.bytes(), "</s>");
    if (in.field() == 48) model.pad_piece = name(in.bytes(), "<pad>");
  }
}

}  // namespace sentencepiece

/// Parses the contents of a model file.
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
