#include "attn/text/word_vocabulary.hpp"

#include <fstream>

#include "support/files.hpp"

using namespace attn;
using Ids = std::vector<Token>;
using Words = std::vector<std::string>;

namespace {

WordCounts counts_of(std::initializer_list<const char*> lines) {
  WordCounts counts;
  for (const char* line : lines) counts.add(line);
  return counts;
}

}  // namespace

TEST_CASE("word vocabulary: ids follow frequency after the special tokens") {
  const WordVocabulary words(counts_of({"b a a", "a c b ,"}));
  CHECK(words.words() == Words{"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", ",", "c"});
  CHECK(words.size() == 8);
  CHECK(words.unknown() == 0);
  CHECK(words.pad() == 1);
  CHECK(words.begin() == 2);
  CHECK(words.end() == 3);
  CHECK(words.encode("a  d\tb") == Ids{4, 0, 5});
  CHECK(words.encode("").empty());
  CHECK(words.decode(Ids{2, 4, 0, 1, 5, 3}) == "a <unk> b");
  CHECK(words.decode(Ids{}) == "");
  Ids ids{9};
  words.encode("c", ids);
  CHECK(ids == Ids{9, 7});
}

TEST_CASE("word vocabulary: supports a threshold and a maximum size and both") {
  const WordCounts counts = counts_of({"a a a b b c c d"});
  CHECK(WordVocabulary(counts, {.seen_at_least = 2}).words() == Words{"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c"});
  CHECK(WordVocabulary(counts, {.words = 2}).words() == Words{"<unk>", "<pad>", "<sos>", "<eos>", "a", "b"});
  CHECK(WordVocabulary(counts, {.seen_at_least = 3, .words = 2}).size() == 5);
  CHECK(WordVocabulary(counts, {.seen_at_least = 9}).size() == 4);
  CHECK(WordVocabulary(counts, {.words = 99}).size() == 8);
  CHECK(WordVocabulary(WordCounts()).size() == 4);
}

TEST_CASE("word vocabulary: names of special tokens in a text are unknown words") {
  const WordVocabulary words(counts_of({"<eos> <eos> <unk> a"}), {.words = 2});
  CHECK(words.words() == Words{"<unk>", "<pad>", "<sos>", "<eos>", "a"});
  CHECK(words.encode("<eos> <unk> <pad> a") == Ids{0, 0, 0, 4});
}

TEST_CASE("word vocabulary: shared words exclude special tokens") {
  const WordVocabulary one(counts_of({"in die a ."})), other(counts_of({". the in a in"}));
  CHECK(shared_words(one, other) == 3);
  CHECK(shared_words(other, one) == 3);
  CHECK(shared_words(one, WordVocabulary(WordCounts())) == 0);
}

TEST_CASE("word vocabulary: rejects invalid words and ids and text") {
  CHECK(contains(error_of([] { WordVocabulary(Words{}); }), "the word of id 0 must be <unk>"));
  CHECK(contains(error_of([] {
                   WordVocabulary(Words{"<unk>", "<pad>", "<eos>", "<sos>"});
                 }),
                 "the word of id 2 must be <sos>"));
  CHECK(contains(error_of([] {
                   WordVocabulary(Words{"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "a"});
                 }),
                 "the word 'a' has two ids, 4 and 6"));
  const WordVocabulary words(counts_of({"a"}));
  CHECK(contains(error_of([&] { words.encode("a \xFF"); }), "byte 2 of the text"));
  CHECK(contains(error_of([&] { words.decode(Ids{8}); }), "no word has the id 8: the vocabulary has 5"));
  CHECK(contains(error_of([&] { words.decode(Ids{-1}); }), "no word has the id -1"));
  CHECK(words.padded_size() == 8);
  CHECK(words.decode(Ids{7}) == "");
}

TEST_CASE("word vocabulary: the hash depends on words and their order") {
  const auto hash_of = [](const char* line) { return WordVocabulary(counts_of({line})).hash(); };
  CHECK(hash_of("a a b") == hash_of("b a a"));
  CHECK(hash_of("a a b") != hash_of("a b b"));
  CHECK(hash_of("ab") != hash_of("a b"));
}

TEST_CASE("word vocabulary: matches the statistics of Europarl 10k") {
  if (!has_data("europarl-10k")) return;
  const auto count = [](const std::string& language) {
    std::ifstream file(std::string(ATTN_TEST_DATA) + "/europarl-10k/train." + language);
    WordCounts counts;
    for (std::string line; std::getline(file, line);) counts.add(line);
    return counts;
  };
  const WordCounts english = count("en"), german = count("de");
  CHECK(english.tokens() == 124031);
  CHECK(german.tokens() == 112572);
  CHECK(english.types() == 8326);
  CHECK(german.types() == 12504);
  CHECK(english.seen_once() == 3909);
  CHECK(german.seen_once() == 7460);

  // Words seen once are unknown; the paper counts <unk> as the one special token: 4,418 and 5,045.
  const WordVocabulary english_words(english, {.seen_at_least = 2}), german_words(german, {.seen_at_least = 2});
  CHECK(english_words.size() - WordVocabulary::special_tokens + 1 == 4418);
  CHECK(german_words.size() - WordVocabulary::special_tokens + 1 == 5045);
  CHECK(shared_words(english_words, german_words) == 478);
}
