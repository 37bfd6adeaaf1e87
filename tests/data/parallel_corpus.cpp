#include "attn/data/parallel_corpus.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "attn/text/word_vocabulary.hpp"

using namespace attn;

namespace {

/// One token a letter: a is 10, b is 11.
struct Letters {
  Token first = 10;
  void encode(std::string_view text, std::vector<Token>& ids) const {
    for (const char letter : text) ids.push_back(first + (letter - 'a'));
  }
  std::vector<Token> encode(std::string_view text) const {
    std::vector<Token> ids;
    encode(text, ids);
    return ids;
  }
};

ParallelCorpus numbered(Index pairs) {
  ParallelCorpus corpus;
  for (Token i = 0; i < pairs; ++i) {
    corpus.source.push_back(std::vector<Token>{i});
    corpus.target.push_back(std::vector<Token>{i, i});
  }
  return corpus;
}

}  // namespace

TEST_CASE("encode_corpus: encodes each side with its tokenizer without special tokens") {
  const ParallelCorpus corpus = encode_corpus({{"ab", "", "c"}, {"a", "b", ""}}, Letters{}, Letters{50});
  CHECK(corpus.size() == 3);
  CHECK(corpus.source.tokens == std::vector<Token>{10, 11, 12});
  CHECK(corpus.source.offsets == std::vector<std::int32_t>{0, 2, 2, 3});
  CHECK(corpus.target.tokens == std::vector<Token>{50, 51});
  CHECK(corpus.target.offsets == std::vector<std::int32_t>{0, 1, 2, 2});
}

TEST_CASE("decode_corpus: restores the text of each side") {
  const WordVocabulary english({"<unk>", "<pad>", "<sos>", "<eos>", "a", "cat"});
  const WordVocabulary german({"<unk>", "<pad>", "<sos>", "<eos>", "eine", "Katze"});
  const ParallelText text{{"a cat", "", "a dog"}, {"eine Katze", "Katze", ""}};
  const ParallelText back = decode_corpus(encode_corpus(text, english, german), english, german);
  CHECK(back.source == std::vector<std::string>{"a cat", "", "a <unk>"});
  CHECK(back.target == text.target);
}

TEST_CASE("encode_corpus: truncates long sentences to their first tokens") {
  const ParallelCorpus corpus = encode_corpus({{"abcde", "ab"}, {"abc", "abcd"}}, Letters{}, Letters{}, 3);
  CHECK(corpus.source.tokens == std::vector<Token>{10, 11, 12, 10, 11});
  CHECK(corpus.target.tokens == std::vector<Token>{10, 11, 12, 10, 11, 12});
  CHECK(corpus.target.offsets == std::vector<std::int32_t>{0, 3, 6});
}

TEST_CASE("encode_corpus: rejects invalid input") {
  CHECK_THROWS_WITH_AS(encode_corpus({{"a"}, {"a"}}, Letters{}, Letters{}, 0),
                       "encode_lines: cannot truncate sentences to 0 tokens; keep at least 1", Error);
  CHECK_THROWS_WITH_AS(encode_corpus({{"a", "b"}, {"a"}}, Letters{}, Letters{}),
                       "encode_corpus: 2 source lines, but 1 target lines. Pass one target per source.", Error);
  CHECK(encode_corpus({}, Letters{}, Letters{}).size() == 0);
}

TEST_CASE("split_validation: takes the last pairs") {
  const ParallelCorpus corpus = numbered(300);
  const auto [training, validation] = split_validation(corpus, 0.01);
  CHECK(training == numbered(297));
  CHECK(validation.size() == 3);
  CHECK(validation.source.tokens == std::vector<Token>{297, 298, 299});
  CHECK(validation.target.tokens == std::vector<Token>{297, 297, 298, 298, 299, 299});
}

TEST_CASE("split_validation: rounds to whole pairs") {
  CHECK(split_validation(numbered(100), 0.29).validation.size() == 29);  // 0.29 * 100 is 28.999999999999996
  CHECK(split_validation(numbered(10), 0.04).validation.size() == 0);
  CHECK(split_validation(numbered(10), 0).training == numbered(10));
  CHECK(split_validation({}, 0.5).training.size() == 0);
}

TEST_CASE("split_validation: rejects invalid fractions") {
  for (const double fraction : {-0.1, 1.0, 1.5}) CHECK_THROWS_AS(split_validation(numbered(10), fraction), Error);
  CHECK_THROWS_WITH_AS(split_validation(numbered(10), 1), "split_validation: a fraction of 1 is not in [0, 1)", Error);
  CHECK_THROWS_AS(split_validation(numbered(10), std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST_CASE("encode_lines: results do not depend on the number of threads") {
  std::vector<std::string> lines;
  for (int i = 0; i < 10'000; ++i)
    lines.push_back(std::string(static_cast<std::size_t>(i % 7), static_cast<char>('a' + i % 26)));
  const Sentences one = encode_lines(lines, Letters{}, 5, 1);
  CHECK(one.size() == 10'000);
  CHECK(one.length(6) == 5);
  CHECK(one[9'999].front() == 10 + 9'999 % 26);
  for (const Index threads : {2, 3, 16}) CHECK(encode_lines(lines, Letters{}, 5, threads) == one);
  const std::vector<std::string> block(4096, "ab");  // a block, to its last line
  CHECK(encode_lines(block, Letters{}).tokens.size() == 8192);
}

TEST_CASE("encode_lines: rethrows an error from any thread") {
  struct Refusing : Letters {
    using Letters::encode;
    void encode(std::string_view text, std::vector<Token>& ids) const {
      require(text != "x", "there is an x");
      Letters::encode(text, ids);
    }
  };
  std::vector<std::string> lines(20'000, "ab");
  lines[13'000] = "x";
  CHECK_THROWS_WITH_AS(encode_lines(lines, Refusing{}, keep_all_tokens, 4), "there is an x", Error);
}
