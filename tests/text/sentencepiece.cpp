#include "attn/text/sentencepiece.hpp"

#include "attn/text/any_tokenizer.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "text/sentencepiece_bytes.hpp"

using namespace attn;
using Ids = std::vector<Token>;
using Pieces = std::vector<std::string>;
using Kind = SentencePieceModel::PieceKind;

namespace {

SentencePieceModel small_model(std::vector<SentencePieceModel::Piece> more) {
  SentencePieceModel model;
  model.pieces = {{"<unk>", 0, Kind::unknown}, {"<s>", 0, Kind::control}, {"</s>", 0, Kind::control}};
  for (auto& piece : more) model.pieces.push_back(std::move(piece));
  return model;
}

SentencePieceModel letters() {
  return small_model({{"\u2581", -2}, {"a", -3}, {"b", -3}, {"ab", -4}, {"\u2581ab", -5.5f}, {"c", -1}, {"bc", -1}});
}

SentencePieceModel bpe_of(SentencePieceModel model) {
  model.kind = SentencePieceModel::Kind::bpe;
  return model;
}

SentencePieceModel with_bytes(SentencePieceModel model) {
  model.byte_fallback = true;
  for (int byte = 0; byte < 256; ++byte) {
    const char* digits = "0123456789ABCDEF";
    model.pieces.push_back({std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + '>', 0, Kind::byte});
  }
  return model;
}

}  // namespace

TEST_CASE("sentencepiece: unigram takes the segmentation with the highest score") {
  const SentencePiece pieces(letters());
  CHECK(pieces.pieces("ab") == Pieces{"\u2581ab"});            // -5.5 before -2 - 4 and -2 - 3 - 3
  CHECK(pieces.pieces("abc") == Pieces{"\u2581", "a", "bc"});  // -6 before -5.5 - 1
  CHECK(pieces.pieces("ab ab") == Pieces{"\u2581ab", "\u2581ab"});
  CHECK(pieces.encode("aab") == Ids{3, 4, 6});  // ab as one: -4
  CHECK(pieces.encode("").empty());
  CHECK(pieces.encode("   ").empty());
}

TEST_CASE("sentencepiece: bpe merges the best-scored piece first and the leftmost of ties") {
  const SentencePiece pieces(bpe_of(letters()));
  CHECK(pieces.pieces("ab") == Pieces{"\u2581ab"});
  CHECK(pieces.pieces("abc") == Pieces{"\u2581", "a", "bc"});  // (b, c) at -1 leaves nothing for (a, b)
  SentencePieceModel model = bpe_of(small_model({{"a", 0}, {"aa", -1}, {"aaa", -2}}));
  model.normalizer.dummy_prefix = false;
  CHECK(SentencePiece(model).pieces("aaaaa") == Pieces{"aa", "aaa"});
  CHECK(SentencePiece(model).encode("").empty());
}

TEST_CASE("sentencepiece: an unused bpe piece splits again") {
  SentencePieceModel model = bpe_of(small_model({{"a", 0}, {"b", 0}, {"ab", -1, Kind::unused}, {"abab", -2}, {"ba", -3}}));
  model.normalizer.dummy_prefix = false;
  const SentencePiece pieces(model);
  CHECK(pieces.pieces("ab") == Pieces{"a", "b"});
  CHECK(pieces.pieces("abab") == Pieces{"abab"});
  CHECK(pieces.pieces("ababab") == Pieces{"abab", "a", "b"});
}

TEST_CASE("sentencepiece: characters that are unused pieces or control symbol names are unknown") {
  SentencePieceModel model =
      bpe_of(small_model({{"a", 0}, {"b", 0, Kind::unused}, {"c", 0, Kind::control}, {"ab", -1, Kind::unused}}));
  model.normalizer.dummy_prefix = false;
  const SentencePiece pieces(model);
  CHECK(pieces.encode("acab") == Ids{3, 0, 3, 0});
  CHECK(pieces.pieces("acab") == Pieces{"a", "c", "a", "b"});
  CHECK(SentencePiece(with_bytes(model)).pieces("ab") == Pieces{"a", "<0x62>"});
}

TEST_CASE("sentencepiece: rounding of long texts does not affect the next pieces") {
  SentencePieceModel model = small_model({{"a", -20000}, {"b", -0.9F}, {"bb", -1.7F}});
  model.normalizer.dummy_prefix = false;
  const SentencePiece pieces(model);
  const std::string much(1002, 'a');  // 2e7 in all, where floats are 2 apart
  const Ids ids = pieces.encode(much + "bbbb");
  REQUIRE(ids.size() > much.size());
  CHECK(Ids(ids.begin() + 1002, ids.end()) == pieces.encode("bbbb"));
}

TEST_CASE("sentencepiece: consecutive unknown characters form one piece or fall back to bytes") {
  const SentencePiece pieces(letters());
  CHECK(pieces.encode("a\u00E4\u4E2Dab") == Ids{3, 4, 0, 6});
  CHECK(pieces.pieces("\u00E4\u4E2D") == Pieces{"\u2581", "\u00E4\u4E2D"});
  CHECK(pieces.decode(Ids{3, 4, 0, 4}) == "a \u2047 a");
  const SentencePiece bytes(with_bytes(letters()));
  CHECK(bytes.pieces("a\u00E4") == Pieces{"\u2581", "a", "<0xC3>", "<0xA4>"});
  CHECK(bytes.decode(bytes.encode("b\u00E4\u4E2D")) == "b\u00E4\u4E2D");
  CHECK(bytes.decode_pieces(Pieces{"a", "<0xC3>", "b", "<0xE4>", "<0xB8>"}) == "a\uFFFDb\uFFFD\uFFFD");
  CHECK(bytes.pieces("<0x41>").size() == 7);  // text, not the piece
}

TEST_CASE("sentencepiece: each byte of invalid UTF-8 becomes U+FFFD") {
  const SentencePiece pieces(small_model({{"\u2581", -1}, {"\uFFFD", -2}, {"x", -2}}));
  CHECK(pieces.encode("\xE4\xB8x") == Ids{3, 4, 4, 5});
  CHECK(pieces.encode("\xC0\xAF") == Ids{3, 4, 4});
}

TEST_CASE("sentencepiece: finds user-defined symbols everywhere and control symbols nowhere") {
  for (const bool bpe : {false, true}) {
    SentencePieceModel model = letters();
    model.pieces.push_back({"<x>", 0, Kind::user_defined});
    model.pieces.push_back({"<c>", 0, Kind::control});
    model.pieces.push_back({"A A", 0, Kind::user_defined});
    model.normalizer.charsmap = wire::rules();
    if (bpe) model.kind = SentencePieceModel::Kind::bpe;
    const SentencePiece pieces(model);
    CHECK(pieces.pieces("ab<x>ab<c>") == Pieces{"\u2581ab", "<x>", "ab", "<", "c", ">"});
    CHECK(pieces.encode("<x>") == Ids{3, 10});
    CHECK(pieces.decode(Ids{3, 10, 11, 4}) == "<x>a");
    CHECK(pieces.pieces("bAb") == Pieces{"\u2581", "b", "ab"});  // the rules apply elsewhere
  }
}

TEST_CASE("sentencepiece: begin and end and padding follow the model's names and may be absent") {
  SentencePieceModel model = letters();
  CHECK(SentencePiece(model).begin() == 1);
  CHECK(SentencePiece(model).end() == 2);
  CHECK(SentencePiece(model).pad() == -1);
  CHECK(SentencePiece(model).unknown() == 0);
  model.end_piece = "<s>";
  model.begin_piece = "ab";
  CHECK(SentencePiece(model).end() == 1);
  CHECK(SentencePiece(model).begin() == -1);  // a piece of text
}

TEST_CASE("sentencepiece: decoding drops the leading space and control symbols") {
  SentencePieceModel model = letters();
  CHECK(SentencePiece(model).decode(Ids{1, 7, 7, 3, 3, 5, 2}) == "ab ab  b");
  CHECK(SentencePiece(model).decode(Ids{3, 3, 4}) == "a");
  model.normalizer.remove_extra_whitespace = false;
  CHECK(SentencePiece(model).decode(Ids{3, 3, 4}) == " a");  // one space is the prefix
  model.normalizer.dummy_prefix = false;
  CHECK(SentencePiece(model).decode(Ids{3, 4}) == " a");
  CHECK(SentencePiece(model).decode(Ids{}).empty());
  CHECK(SentencePiece(model).decode(Ids{4, 15}) == "a");  // past the vocabulary, within what pads it
  CHECK(contains(error_of([&] { SentencePiece(model).decode(Ids{16}); }), "no piece has the id 16: the vocabulary has 10"));
  CHECK(contains(error_of([&] { SentencePiece(model).decode(Ids{-1}); }), "no piece has the id -1"));
}

TEST_CASE("sentencepiece: normalizes by rules and collapses spaces") {
  SentencePieceModel::Normalizer options;
  options.charsmap = wire::rules();
  const auto normal = [&](std::string_view text, bool suffix = false) {
    return sentencepiece::TextNormalizer(options, suffix)(text, PieceTrie());
  };
  CHECK(normal("AxA") == "\u2581axa");
  CHECK(normal(" \u3000 A  \u3000b ") == "\u2581a\u2581b");
  CHECK(normal("a--b-c---") == "\u2581ab-c-");
  CHECK(normal("a\u3001\xE3\x80") == "\u2581a\u3001\uFFFD\uFFFD");  // the beginning of a rule is no rule
  CHECK(normal("--") == "");  // what is left is the prefix alone, which is a space at the end
  CHECK(normal("a b", true) == "a\u2581b\u2581");
  options.escape_whitespace = false;
  CHECK(normal(" a b") == " a b");
  options.dummy_prefix = options.remove_extra_whitespace = false;
  CHECK(normal("  A ") == "  a ");
  CHECK(normal("") == "");
}

TEST_CASE("sentencepiece: a denormalizer changes the decoded text") {
  SentencePieceModel model = small_model({{"\u2581", -1}, {"A", -2}});
  model.denormalizer = {
      .charsmap = wire::rules(), .dummy_prefix = false, .remove_extra_whitespace = false, .escape_whitespace = false};
  CHECK(SentencePiece(model).decode(Ids{3, 4, 3, 4}) == "a a");
}

TEST_CASE("sentencepiece: has names and satisfies the tokenizer interface") {
  const AnyTokenizer any = SentencePiece(letters());
  CHECK(any.name(0) == "<unk>");
  CHECK(any.name(3) == "\u2423");
  CHECK(any.name(6) == "\u00B7ab");
  CHECK(any.name(7) == "ab");
  CHECK(any.size() == 10);
  CHECK(any.padded_size() == 16);
}

TEST_CASE("sentencepiece: the hash depends on everything that affects ids and text") {
  std::vector<std::uint64_t> seen;
  const auto differs = [&](auto change) {
    SentencePieceModel model = with_bytes(letters());
    change(model);
    const std::uint64_t hash = SentencePiece(model).hash();
    for (const std::uint64_t other : seen) CHECK(hash != other);
    seen.push_back(hash);
  };
  differs([](auto&) {});
  differs([](auto& model) { model.pieces[5].score = -3.5f; });
  differs([](auto& model) { model.pieces[5].text = "d"; });
  differs([](auto& model) { model.pieces[5].kind = Kind::unused; });
  differs([](auto& model) { model.kind = SentencePieceModel::Kind::bpe; });
  differs([](auto& model) { model.byte_fallback = false; });
  differs([](auto& model) { model.whitespace_is_suffix = true; });
  differs([](auto& model) { model.normalizer.charsmap = wire::rules(); });
  differs([](auto& model) { model.normalizer.dummy_prefix = false; });
  differs([](auto& model) { model.normalizer.remove_extra_whitespace = false; });
  differs([](auto& model) { model.normalizer.escape_whitespace = false; });
  differs([](auto& model) { model.denormalizer.charsmap = wire::rules(); });
  differs([](auto& model) { model.unknown_surface = "?"; });
  differs([](auto& model) { model.end_piece = "<s>"; });
}

TEST_CASE("sentencepiece: rejects contradictory pieces") {
  const auto refused = [](auto change) {
    SentencePieceModel model = letters();
    change(model);
    return error_of([&] { SentencePiece{model}; });
  };
  CHECK(refused([](auto& model) { model.pieces[4].text = ""; }) == "piece 4 is empty: the model is damaged");
  CHECK(refused([](auto& model) { model.pieces[5].text = "a"; }) == "duplicate piece 'a'");
  CHECK(refused([](auto& model) { model.pieces[5].kind = Kind::unknown; }) == "there are two unknown pieces, 0 and 5");
  CHECK(refused([](auto& model) { model.pieces.erase(model.pieces.begin()); }) == "there is no piece for unknown text");
  CHECK(contains(refused([](auto& model) { model.pieces[5].kind = Kind::byte; }),
                 "the byte piece 'b' must have the form <0x41>"));
  CHECK(contains(refused([](auto& model) { model.byte_fallback = true; }), "there is no piece for byte 0"));
  CHECK(contains(refused([](auto& model) { model.normalizer.charsmap = "abc"; }), "rules are cut short"));
  CHECK(contains(refused([](auto& model) { model.normalizer.charsmap = "\xF0\xFF\xFF\xFF\1"; }),
                 "need a trie of 4294967280 bytes, but have 1"));
}

TEST_CASE("sentencepiece: damaged rules are errors on use and never read out of bounds") {
  const auto encode = [](std::string charsmap) {
    SentencePieceModel model = letters();
    model.normalizer.charsmap = std::move(charsmap);
    return error_of([&] { SentencePiece(model).encode("A"); });
  };
  CHECK(encode(wire::rules()) == "");
  using namespace std::string_literals;
  CHECK(encode("\4\0\0\0\0\0\4\0x"s) == "");  // the root leads out of the trie: no rule applies
  std::string damaged = wire::rules();
  damaged[4 + 4 * 0x3C0 + 2] = '\x7F';  // the replacement of "A" is far away
  CHECK(contains(encode(damaged), "a normalisation rule has no replacement"));
  damaged = wire::rules();
  damaged[4 + 4 * (0x100 ^ 'A') + 3] = '\x7F';
  CHECK(contains(encode(damaged), "leads outside it"));
}
