#include "attn/text/marian_tokenizer.hpp"

#include <doctest/doctest.h>

#include "attn/text/any_tokenizer.hpp"
#include "support/errors.hpp"

using namespace attn;
using Ids = std::vector<Token>;
using Kind = SentencePieceModel::PieceKind;

namespace {

MarianTokenizer small(std::vector<std::string> vocabulary = {"</s>", "<unk>", ">>deu<<", "c", "\u2581ab", "\u2581",
                                                             "\u00E4", "<pad>"}) {
  SentencePieceModel model;
  model.pieces = {{"<unk>", 0, Kind::unknown},
                  {"<s>", 0, Kind::control},
                  {"</s>", 0, Kind::control},
                  {"\u2581", -2},
                  {"c", -2},
                  {"\u2581ab", -3},
                  {"b", -4}};
  return MarianTokenizer(SentencePiece(model), std::move(vocabulary));
}

}  // namespace

TEST_CASE("marian tokenizer: takes pieces from the model and ids from the vocabulary") {
  const MarianTokenizer marian = small();
  CHECK(marian.encode("abc c") == Ids{4, 3, 5, 3});
  CHECK(marian.encode("b") == Ids{5, 1});       // a piece that the vocabulary lacks
  CHECK(marian.encode("\u00E4") == Ids{5, 6});  // a piece that only the vocabulary has
  CHECK(marian.encode("zzz") == Ids{5, 1});
  CHECK(marian.encode("").empty());
  CHECK(marian.decode(Ids{7, 4, 3, 1, 5, 3, 0}) == "abc c");
  CHECK(marian.decode(Ids{5, 6, 5}) == "\u00E4");
  CHECK(marian.decode(Ids{4, 8, 1000}) == "ab");  // beyond the vocabulary
  CHECK(marian.decode(Ids{}).empty());
  CHECK(contains(error_of([&] { marian.decode(Ids{-1}); }), "no token has the id -1"));
}

TEST_CASE("marian tokenizer: a language code is one token if the vocabulary contains it and text otherwise") {
  const MarianTokenizer marian = small();
  CHECK(marian.encode(">>deu<< ab") == Ids{2, 4});
  CHECK(marian.encode(">>deu<<ab") == Ids{2, 4});
  CHECK(marian.encode(">>deu<<") == Ids{2});
  CHECK(marian.encode(">>fra<< ab") == Ids{5, 1, 4});  // text
  CHECK(marian.encode(">>deu") == Ids{5, 1});
}

TEST_CASE("marian tokenizer: special tokens and names and hash") {
  const MarianTokenizer marian = small();
  CHECK(marian.begin() == 7);
  CHECK(marian.pad() == 7);
  CHECK(marian.end() == 0);
  CHECK(marian.unknown() == 1);
  CHECK(marian.size() == 8);
  CHECK(marian.name(4) == "ab");
  CHECK(marian.name(3) == "\u00B7c");
  CHECK(marian.name(7) == "<pad>");
  CHECK(AnyTokenizer(marian).hash() == marian.hash());
  CHECK(small({"</s>", "<unk>", ">>deu<<", "c", "\u2581ab", "\u2581", "x", "<pad>"}).hash() != marian.hash());
  CHECK(contains(error_of([] { small({"</s>", "<unk>"}); }), "the vocabulary has no token <pad>"));
  CHECK(contains(error_of([] { small({"</s>", "<unk>", "a", "a"}); }), "duplicate token 'a' in the vocabulary"));
}
