#include "papers/encoded_pairs.hpp"

#include "attn/core/file.hpp"
#include "attn/text/word_vocabulary_files.hpp"
#include "support/files.hpp"

using namespace attn;
using namespace papers;

namespace {

WordVocabulary words(const char* line) {
  WordCounts counts;
  counts.add(line);
  return WordVocabulary(counts);
}

}  // namespace

TEST_CASE("encoded pairs: reads ids without special tokens") {
  const TemporaryFolder folder;
  write_file(folder / "pairs.tsv", "2 4 5 0 3\t2 4 3\n2 3\t2 0 0 3\r\n");
  const ParallelCorpus corpus = load_encoded_pairs(folder / "pairs.tsv", words("a b"), words("c"));
  CHECK(corpus.source == Sentences{{4, 5, 0}, {}});
  CHECK(corpus.target == Sentences{{4}, {0, 0}});
}

TEST_CASE("encoded pairs: errors name the file and line") {
  const TemporaryFolder folder;
  const auto error_with = [&](const std::string& line) {
    write_file(folder / "pairs.tsv", "2 4 3\t2 4 3\n" + line + "\n");
    return error_of([&] { load_encoded_pairs(folder / "pairs.tsv", words("a b"), words("c")); });
  };
  CHECK(error_with("2 5 3\t2 4 3") == "");
  for (const char* line : {"2 4 3", "2 4 3 2 4 3", "2 4 3\t2 4 3\t2 4 3", ""})
    CHECK(contains(error_with(line), "pairs.tsv, line 2: not two sides separated by one tab"));
  for (const char* id : {"x", "-1", "4.5", "", "99999999999"})
    CHECK(contains(error_with("2 " + std::string(id) + " 3\t2 4 3"), "line 2: '" + std::string(id) + "' is not an id"));
  CHECK(contains(error_with("2 4 3\t2 5 3"), "line 2: no word has the id 5: the vocabulary has 5. Use the vocabulary"));
  for (const char* line : {"4 3\t2 4 3", "2 4\t2 4 3", "2\t2 4 3", "2 4 3\t"})
    CHECK(contains(error_with(line), "line 2: a sentence must begin with 2 and end with 3"));
  CHECK(contains(error_with("\xFF"), "line 2: byte 1 is not valid UTF-8"));
  CHECK(contains(error_of([&] { load_encoded_pairs(folder / "none", words("a"), words("b")); }), "none: No such file"));
}

TEST_CASE("encoded pairs: the published sets have the expected sizes") {
  if (!has_data("europarl-seed003")) return;
  const std::filesystem::path data = std::filesystem::path(ATTN_TEST_DATA) / "europarl-seed003";
  const WordVocabulary english = load_word_vocabulary(data / "en.vocab"), german = load_word_vocabulary(data / "de.vocab");
  const ParallelCorpus dev = load_encoded_pairs(data / "proc.dev.tsv", english, german);
  const ParallelCorpus test = load_encoded_pairs(data / "proc.test.tsv", english, german);
  CHECK(dev.size() == 5367);  // the paper counts line ends, 5,366 and 2,149: the last lines have none
  CHECK(test.size() == 2150);
  CHECK(test.target.size() == 2150);
  CHECK(std::max(test.source.longest(), test.target.longest()) == 18);
  CHECK(std::max(dev.source.longest(), dev.target.longest()) == 18);
  CHECK(english.decode(test.source[2]) == "i do not know if this is what i should have expected");
}
