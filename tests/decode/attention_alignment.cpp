#include "attn/decode/attention_alignment.hpp"

#include <doctest/doctest.h>

#include "attn/text/bpe_training.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

// Two source words of one and two tokens and an end token; two target words of two tokens and one, after a begin token.
const WordTokens source{{5, 6, 7}, {0, 1, 3}}, target{{8, 9, 10}, {0, 2, 3}};
const AttentionMap map{"a",
                       0,
                       1,
                       Side::target,
                       Side::source,
                       4,
                       4,
                       {0.6f, 0.1f, 0.1f, 0.2f,  //
                        0.1f, 0.4f, 0.4f, 0.1f,  //
                        0.4f, 0.0f, 0.1f, 0.5f,  //
                        0.1f, 0.5f, 0.3f, 0.1f}};

}  // namespace

TEST_CASE("attention alignment: each word links to its most attended word over all tokens") {
  // Word 1 by rows 0 and 1: 0.7 against 1.0; word 2 by row 2: 0.4 against 0.1, the end token's 0.5 aside.
  CHECK(align(map, source, target, AlignedBy::writing) == std::vector<WordLink>{{1, 0}, {0, 1}});
  // One row later: 0.5 against 0.9, and 0.1 against 0.8.
  CHECK(align(map, source, target, AlignedBy::reading) == std::vector<WordLink>{{1, 0}, {1, 1}});
}

TEST_CASE("attention alignment: words without tokens or attention have no link and ties go to the first word") {
  const WordTokens gaps{{5, 6, 7}, {0, 0, 1, 3}}, silent{{8, 9, 10}, {0, 2, 2, 3}};
  CHECK(align(map, gaps, silent, AlignedBy::writing) == std::vector<WordLink>{{2, 0}, {1, 2}});
  AttentionMap even = map;
  std::fill(even.weights.begin(), even.weights.end(), 0.25f);
  CHECK(align(even, {{5, 6, 7}, {0, 1, 2, 3}}, target, AlignedBy::writing) == std::vector<WordLink>{{0, 0}, {0, 1}});
  std::fill(even.weights.begin(), even.weights.end(), 0.f);
  CHECK(align(even, source, target, AlignedBy::writing).empty());
}

TEST_CASE("attention alignment: rejects a map of other sentences") {
  CHECK(contains(error_of([&] {
                   align(map, source, {{1, 2, 3, 4}, {0, 4}}, AlignedBy::writing);
                 }),
                 "an attention map of 4 x 4"));
  AttentionMap own = map;
  own.at = Side::target;
  CHECK(!error_of([&] { align(own, source, target, AlignedBy::writing); }).empty());
}

TEST_CASE("attention alignment: encoding word by word gives the tokens of the line") {
  const std::vector<std::string> text{"the cat , isn't it ?", "the cats aren't 42 cats !"};
  const ByteBpe bpe = learn_byte_bpe(300, text, text);
  for (const std::string& line : text) {
    const WordTokens words = encode_words(line, bpe);
    CHECK(words.tokens == bpe.encode(line));
    CHECK(words.words() == std::count(line.begin(), line.end(), ' ') + 1);
  }
  const WordVocabulary vocabulary({"<unk>", "<pad>", "<sos>", "<eos>", "the", "cat"});
  const WordTokens words = encode_words("the dog  the", vocabulary);
  CHECK(words.tokens == std::vector<Token>{4, 0, 4});
  CHECK(words.first == std::vector<Index>{0, 1, 2, 3});
}

TEST_CASE("attention alignment: grouping generated tokens gives the words of the text") {
  const std::vector<std::string> text{"the cat , isn't it ?", "the cats aren't 42 cats !"};
  const ByteBpe bpe = learn_byte_bpe(270, text, text);
  for (const std::string& line : text) {
    const auto tokens = bpe.encode(line);
    const WordTokens words = group_words(tokens, bpe), expected = encode_words(line, bpe);
    CHECK(words.tokens == expected.tokens);
    CHECK(words.first == expected.first);
  }
  const WordVocabulary vocabulary({"<unk>", "<pad>", "<sos>", "<eos>", "the", "cat"});
  CHECK(group_words(std::vector<Token>{4, 0, 5}, vocabulary).first == std::vector<Index>{0, 1, 2, 3});
  CHECK(group_words(std::vector<Token>{}, vocabulary).words() == 0);
  CHECK(group_words(bpe.encode("it  "), bpe).words() == 1);
}

TEST_CASE("attention alignment: averages the heads of the last cross-attention layer") {
  AttentionMap first = map, second = map, own = map;
  for (std::size_t i = 0; i < first.weights.size(); ++i) first.weights[i] = i % 4 == 1 ? 1.f : 0.f;
  second.head = 1, first.heads = second.heads = 2;
  first.layer = second.layer = "b";
  own.at = Side::target;
  // One head looks at the source's second word alone: 0.55 against 0.2 for the last word of the target.
  const std::vector<AttentionMap> maps{own, map, first, second, own};
  CHECK(align_by_last_layer(maps, source, target) == std::vector<WordLink>{{1, 0}, {1, 1}});
  CHECK(align_by_last_layer(std::vector{map}, source, target) == std::vector<WordLink>{{1, 0}, {0, 1}});
  CHECK(contains(error_of([&] { align_by_last_layer(std::vector{own}, source, target); }),
                 "no attention over source tokens"));
}
