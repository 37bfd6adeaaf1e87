#include "attn/text/sentencepiece_model.hpp"

#include "attn/text/sentencepiece.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "text/sentencepiece_bytes.hpp"

using namespace attn;
using Kind = SentencePieceModel::PieceKind;

TEST_CASE("sentencepiece model: reads all fields and uses defaults for missing ones") {
  const std::string pieces = wire::piece("<unk>", 0, Kind::unknown) + wire::piece("a", -1.25f, Kind::normal) +
                             wire::bytes(1, wire::bytes(1, "b") + wire::number(9, 1));
  const SentencePieceModel plain = read_sentencepiece_model(pieces);
  REQUIRE(plain.pieces.size() == 3);
  CHECK(plain.pieces[0].kind == Kind::unknown);
  CHECK(plain.pieces[1].text == "a");
  CHECK(plain.pieces[1].score == -1.25f);
  CHECK(plain.pieces[2].kind == Kind::normal);
  CHECK(plain.pieces[2].score == 0);
  CHECK(plain.kind == SentencePieceModel::Kind::unigram);
  CHECK(!plain.byte_fallback);
  CHECK(plain.normalizer.dummy_prefix);
  CHECK(plain.unknown_surface == " \u2047 ");

  const std::string trainer = wire::number(3, 2) + wire::number(24, 1) + wire::number(35, 1) + wire::bytes(44, "?") +
                              wire::bytes(46, "[s]") + wire::bytes(47, "[e]") + wire::bytes(48, "") + wire::number(4, 8000);
  const std::string normalizer =
      wire::bytes(1, "mine") + wire::bytes(2, "rules") + wire::number(3, 0) + wire::number(4, 0) + wire::number(5, 0);
  const SentencePieceModel model = read_sentencepiece_model(pieces + wire::bytes(2, trainer) + wire::bytes(3, normalizer) +
                                                            wire::bytes(4, "\x0a\x00") + wire::bytes(5, normalizer));
  CHECK(model.kind == SentencePieceModel::Kind::bpe);
  CHECK(model.whitespace_is_suffix);
  CHECK(model.byte_fallback);
  CHECK(model.unknown_surface == "?");
  CHECK(model.begin_piece == "[s]");
  CHECK(model.end_piece == "[e]");
  CHECK(model.pad_piece == "<pad>");
  CHECK(model.normalizer.charsmap == "rules");
  CHECK(!model.normalizer.dummy_prefix);
  CHECK(!model.normalizer.remove_extra_whitespace);
  CHECK(!model.normalizer.escape_whitespace);
  CHECK(model.denormalizer.charsmap == "rules");
}

TEST_CASE("sentencepiece model: rejects other and truncated and inconsistent files") {
  const auto refused = [](std::string_view bytes) { return error_of([&] { read_sentencepiece_model(bytes); }); };
  const std::string good = wire::piece("<unk>", 0, Kind::unknown) + wire::piece("a", -1, Kind::normal);
  CHECK(refused(good) == "");
  CHECK(contains(refused(""), "not a SentencePiece model: it has no pieces"));
  CHECK(contains(refused("{\"model\": 1}"), "not a SentencePiece model, or a damaged one, at piece 0"));
  CHECK(contains(refused(good.substr(0, good.size() - 1)), "at piece 1: byte 18: 10 bytes should follow, but only 9 do"));
  CHECK(contains(refused(good + wire::varint(1 << 3 | 2) + wire::varint(1ULL << 60)),
                 "at piece 2: byte 38: 1152921504606846976 bytes should follow, but only 0 do"));
  CHECK(contains(refused(wire::bytes(1, wire::number(3, 7))), "a piece has the type 7, but types are 1 to 6"));
  CHECK(contains(refused(wire::bytes(1, wire::number(1, 7))), "field 1 should be bytes"));
  CHECK(contains(refused(good + wire::bytes(2, wire::number(3, 3))), "Only unigram (1) and BPE (2) models are supported"));
  for (std::size_t cut = 1; cut < good.size(); ++cut) {
    const std::string sentence = refused(good.substr(0, cut));
    CHECK((sentence.empty() || contains(sentence, "SentencePiece model")));
  }
}

TEST_CASE("sentencepiece model: errors name the file") {
  const TemporaryFolder folder;
  write_file(folder / "a.spm", wire::piece("<unk>", 0, Kind::unknown) + wire::piece("a", -1, Kind::normal));
  CHECK(load_sentencepiece(folder / "a.spm").encode("a") == std::vector<Token>{0, 1});
  write_file(folder / "b.spm", "no model");
  CHECK(error_of([&] { load_sentencepiece(folder / "b.spm"); }).starts_with((folder / "b.spm").string() + ": not a Sent"));
  write_file(folder / "c.spm", wire::piece("a", -1, Kind::normal));
  CHECK(error_of([&] { load_sentencepiece(folder / "c.spm"); }) ==
        (folder / "c.spm").string() + ": there is no piece for unknown text");
  const std::string missing = error_of([&] { load_sentencepiece(folder / "d.spm"); });
  CHECK(contains(missing, "cannot open " + (folder / "d.spm").string()));
  CHECK(!missing.starts_with((folder / "d.spm").string()));
}
