#include "attn/align/replace_unknown.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;

const WordVocabulary source({"<unk>", "<pad>", "<sos>", "<eos>", "house", "red", "odd"});
const WordVocabulary target({"<unk>", "<pad>", "<sos>", "<eos>", "Haus", "rot"});

/// house -> Haus (0.9) rot (0.1), red -> <unk> (0.6) rot (0.4), odd -> <unk> (1)
const LexicalTable table({0, 0, 0, 0, 0, 2, 4, 5, 5}, {4, 5, 0, 5, 0}, {0.9F, 0.1F, 0.6F, 0.4F, 1.0F});

}  // namespace

TEST_CASE("unknown words: a word without a table entry is copied") {
  const WordTranslation translate(table, source, target);
  CHECK(translate("house") == "Haus");
  CHECK(translate("red") == "rot");  // <unk> is no translation
  CHECK(translate("odd") == "odd");
  CHECK(translate("Elsterwerda") == "Elsterwerda");
  CHECK(translate("<unk>") == "<unk>");
}

TEST_CASE("unknown words: are replaced by translations of the aligned source words") {
  const WordTranslation translate(table, source, target);
  const Words wanted{"the", "house", "in", "Elsterwerda"}, translation{"das", "<unk>", "in", "<unk>", "<unk>"};
  const std::vector<WordLink> links{{0, 0}, {1, 1}, {0, 1}, {2, 2}, {3, 3}};
  CHECK(replace_unknown(translation, "<unk>", links, wanted, translate) ==
        Words{"das", "Haus", "in", "Elsterwerda", "<unk>"});
  CHECK(replace_unknown(Words{}, "<unk>", {}, Words{}, translate).empty());
  // Words that are known stay, whatever they are linked with; any callable translates.
  CHECK(replace_unknown(Words{"a", "?"}, "?", std::span(links).first(2), wanted,
                        [](const std::string& word) { return word + "!"; }) == Words{"a", "house!"});
}

TEST_CASE("unknown words: links outside the sentences are rejected") {
  const WordTranslation translate(table, source, target);
  const std::vector<WordLink> beyond{{1, 0}};
  CHECK(contains(error_of([&] { replace_unknown(Words{"<unk>"}, "<unk>", beyond, Words{"house"}, translate); }),
                 "the link 1-0 is out of range for 1 source words and 1 words of the translation"));
}
