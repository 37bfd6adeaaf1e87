#include "attn/text/tokenizer.hpp"

#include "attn/text/byte_bpe.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "support/files.hpp"
#include "text/small_bpe.hpp"

using namespace attn;

namespace {

/// What generic code does with a tokenizer, whichever it is.
std::string there_and_back(const Tokenizer auto& tokenizer, std::string_view text) {
  std::vector<Token> ids{tokenizer.begin()};
  tokenizer.encode(text, ids);
  ids.push_back(tokenizer.end());
  ids.push_back(tokenizer.pad());
  for (const Token id : ids) CHECK((id >= 0 && id < tokenizer.size()));
  return tokenizer.decode(ids);
}

struct NoHash {
  std::vector<Token> encode(std::string_view) const;
  void encode(std::string_view, std::vector<Token>&) const;
  std::string decode(std::span<const Token>) const;
  Token begin() const, end() const, pad() const, unknown() const;
  Index size() const, padded_size() const;
};
struct WithHash : NoHash {
  std::uint64_t hash() const;
};

}  // namespace

TEST_CASE("tokenizer: one generic function accepts every tokenizer") {
  WordCounts counts;
  counts.add("der Hund bellt .");
  CHECK(there_and_back(WordVocabulary(counts), "der Hund bellt .") == "der Hund bellt .");
  CHECK(there_and_back(small_bpe({{"H", "u"}}), "der Hund  bellt.") == "der Hund  bellt.");
}

TEST_CASE("tokenizer: the concept reports missing members") {
  CHECK_FALSE(Tokenizer<NoHash>);
  CHECK_FALSE(HasHash<NoHash>);
  CHECK(EncodesText<NoHash>);
  CHECK(Tokenizer<WithHash>);
  CHECK_FALSE(Tokenizer<int>);
}

TEST_CASE("tokenizer: pads the vocabulary to a multiple of 8") {
  CHECK(padded_vocabulary(50265) == 50272);
  CHECK(padded_vocabulary(50272) == 50272);
  CHECK(padded_vocabulary(1) == 8);
  CHECK(padded_vocabulary(0) == 0);
}
