#include "attn/text/word_vocabulary_files.hpp"

#include "support/files.hpp"

using namespace attn;
using Words = std::vector<std::string>;

namespace {

const std::string specials = "<unk>,0\n<pad>,1\n<sos>,2\n<eos>,3\n";

}  // namespace

TEST_CASE("word vocabulary files: saving and loading gives the same vocabulary with commas too") {
  const TemporaryFolder folder;
  WordCounts counts;
  counts.add(", , , 1,000 a,b,4 \u00FCber ,, 7");
  const WordVocabulary words(counts);
  save_word_vocabulary(words, folder / "words.vocab");
  const WordVocabulary loaded = load_word_vocabulary(folder / "words.vocab");
  CHECK(loaded.words() == words.words());
  CHECK(loaded.hash() == words.hash());
  CHECK(loaded.encode(", 1,000") == words.encode(", 1,000"));
  CHECK(words.encode(",") == std::vector<Token>{4});
}

TEST_CASE("word vocabulary files: accept any line order and Windows line endings and no last line end") {
  const TemporaryFolder folder;
  write_file(folder / "words.vocab", "b,5\r\n<eos>,3\r\n<unk>,0\r\na,4\r\n<sos>,2\r\n<pad>,1");
  CHECK(load_word_vocabulary(folder / "words.vocab").words() == Words{"<unk>", "<pad>", "<sos>", "<eos>", "a", "b"});
}

TEST_CASE("word vocabulary files: published vocabularies are rewritten byte for byte") {
  if (!has_data("europarl-seed003")) return;
  const TemporaryFolder folder;
  const std::filesystem::path data = std::filesystem::path(ATTN_TEST_DATA) / "europarl-seed003";
  for (const auto& [name, size] : {std::pair{"en.vocab", 14546}, std::pair{"de.vocab", 22892}}) {
    const WordVocabulary words = load_word_vocabulary(data / name);
    CHECK(words.size() == size);
    save_word_vocabulary(words, folder / name);
    CHECK(read_file(folder / name) == read_file(data / name));
  }
  CHECK(load_word_vocabulary(data / "en.vocab").encode("the zoning of qwertz") == std::vector<Token>{4, 14544, 6, 0});
}

TEST_CASE("word vocabulary files: errors name file and line") {
  const TemporaryFolder folder;
  const auto error_with = [&](const std::string& contents) {
    write_file(folder / "words.vocab", contents);
    return error_of([&] { load_word_vocabulary(folder / "words.vocab"); });
  };
  CHECK(error_with(specials + "a,4\n") == "");
  for (const std::string line : {"word", ",5", ""}) {
    CAPTURE(line);
    CHECK(contains(error_with(specials + line + "\na,5\n"), "words.vocab, line 5: '" + line + "' is not `word,id`"));
  }
  for (const std::string id : {"", "x", "4x", " 4", "-4", "4.0", "99999999999999999999"}) {
    CAPTURE(id);
    CHECK(contains(error_with(specials + "a," + id + "\n"), "words.vocab, line 5: '" + id + "' is not an id"));
  }
  CHECK(contains(error_with(specials + "a,3\n"), "line 5: duplicate id 3, already used in line 4"));
  CHECK(contains(error_with(specials + "a,5\n"), "line 5: the id 5 is too high for 5 words"));
  CHECK(contains(error_with(specials + "a,4\na,5\n"), "words.vocab: word vocabulary: the word 'a' has two ids, 4 and 5"));
  CHECK(contains(error_with(specials + "\xC3,4\n"), "line 5: not valid UTF-8"));
  CHECK(contains(error_with(specials + std::string(1000, '\0')),
                 "words.vocab is damaged: it has only NUL bytes from byte " + std::to_string(specials.size() + 1) + " on"));
  CHECK(contains(error_with(""), "the word of id 0 must be <unk>"));
  CHECK(contains(error_with("the,0\n<pad>,1\n<sos>,2\n<eos>,3\n"), "the word of id 0 must be <unk>"));
  CHECK(contains(error_of([&] { load_word_vocabulary(folder / "none"); }), "none: No such file"));
  CHECK(contains(error_of([&] { save_word_vocabulary(WordVocabulary(WordCounts()), folder / "no/where"); }),
                 "no does not exist. Create it."));
}
