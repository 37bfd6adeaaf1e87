#include "common/text_statistics.hpp"

#include <doctest/doctest.h>

#include "attn/text/word_vocabulary.hpp"

using namespace attn;

TEST_CASE("text statistics: words and lengths in words") {
  TextStatistics text;
  for (const char* line : {"the dog saw the cat", "", "  the  cat "}) text.add(line);
  CHECK(text.words.tokens() == 7);
  CHECK(text.words.types() == 4);
  CHECK(text.words.count("the") == 3);
  CHECK((text.lengths.sentences() == 3 && text.lengths.shortest() == 0 && text.lengths.longest() == 5));
}

TEST_CASE("text statistics: lengths in tokens include special tokens") {
  const WordVocabulary letters({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b"});
  TextStatistics text;
  text.add("a b a", letters, 2);
  text.add("", letters);
  CHECK(text.words.tokens() == 3);
  CHECK((text.lengths.longest() == 5 && text.lengths.shortest() == 0));
}
