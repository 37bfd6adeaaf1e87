#include "common/draw_attention.hpp"

#include <doctest/doctest.h>

#include "attn/text/word_vocabulary.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("attention folder: contains a page and a picture for each sentence and an index") {
  const TemporaryFolder folder;
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "<b>", "dog", "runs"});
  AttentionFolder maps(folder / "maps", words, words);
  AttentionMap map{.layer = "attention", .rows = 3, .cols = 3, .weights = std::vector<float>(9, 1.0f / 3)};
  maps.add(7, words.encode("<b> dog"), words.encode("dog runs"), std::span(&map, 1));
  map.at = Side::target;  // it looks back: there is nothing to draw beside the page
  maps.add(12, words.encode("dog"), words.encode("runs"), std::span(&map, 1));
  maps.finish();
  CHECK(std::filesystem::exists(folder / "maps/0007.html"));
  CHECK(std::filesystem::exists(folder / "maps/0007.svg"));
  CHECK(std::filesystem::exists(folder / "maps/0012.html"));
  CHECK_FALSE(std::filesystem::exists(folder / "maps/0012.svg"));
  const std::string list = read_file(folder / "maps/index.html");
  CHECK(contains(list, "<a href='0007.html'>0007</a> &lt;b&gt; dog<br/>dog runs"));
  CHECK(contains(list, "<a href='0012.html'>0012</a> dog<br/>runs"));
  CHECK(contains(read_file(folder / "maps/0007.svg"), "&lt;eos&gt;"));
}

TEST_CASE("attention folder: replaces maps of an earlier text and keeps other files") {
  const TemporaryFolder folder;
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "dog", "runs"});
  const AttentionMap map{.layer = "attention", .rows = 2, .cols = 2, .weights = std::vector<float>(4, 0.5f)};
  const auto draw = [&](Index lines) {
    AttentionFolder maps(folder.path(), words, words);
    for (Index line = 1; line <= lines; ++line)
      maps.add(line, words.encode("dog"), words.encode("runs"), std::span(&map, 1));
    maps.finish();
  };
  const auto exists = [&](const char* name) { return std::filesystem::exists(folder / name); };
  draw(2);
  REQUIRE((exists("0002.html") && exists("0002.svg")));
  for (const char* name : {"mine.svg", "12.svg", "notes.html"}) write_file(folder / name, "mine");
  draw(1);
  CHECK((exists("0001.html") && exists("0001.svg") && exists("index.html")));
  CHECK_FALSE((exists("0002.html") || exists("0002.svg")));
  CHECK((exists("mine.svg") && exists("12.svg") && exists("notes.html")));
}

TEST_CASE("attention folder: a folder that cannot be created is an error") {
  const TemporaryFolder folder;
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>"});
  write_file(folder / "file", "");
  CHECK(contains(error_of([&] { AttentionFolder(folder / "file" / "maps", words, words); }), "cannot create the folder"));
}
