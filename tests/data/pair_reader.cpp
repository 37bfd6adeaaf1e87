#include "attn/data/pair_reader.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs read(const PairFiles& files, UnequalLines unequal = UnequalLines::refuse) {
  PairReader reader(files, unequal);
  Pairs pairs;
  for (std::string source, target; reader.next(source, target);) pairs.emplace_back(source, target);
  return pairs;
}

std::vector<std::vector<std::string>> rows(const std::filesystem::path& path) {
  LineReader reader(path);
  std::vector<std::vector<std::string>> all;
  for (std::vector<std::string> fields; next_csv_row(reader, fields);) all.push_back(fields);
  return all;
}

}  // namespace

TEST_CASE("pair reader: pairs the lines of two files") {
  const TemporaryFolder folder;
  write_file(folder / "a", "one\r\ntwo\n\n");
  write_file(folder / "b", "eins\nzwei\ndrei");
  CHECK(read({PairFormat::lines, folder / "a", folder / "b"}) == Pairs{{"one", "eins"}, {"two", "zwei"}, {"", "drei"}});
}

TEST_CASE("pair reader: rejects unequal line counts or drops and counts the rest") {
  const TemporaryFolder folder;
  write_file(folder / "a", "one\ntwo\nthree\nfour\n");
  write_file(folder / "b", "eins\n");
  CHECK(contains(error_of([&] { read({PairFormat::lines, folder / "a", folder / "b"}); }), "a has 4 lines and "));
  for (const auto& [source, target] : {std::pair("a", "b"), {"b", "a"}}) {
    PairReader reader({PairFormat::lines, folder / source, folder / target}, UnequalLines::drop);
    std::string first, second;
    CHECK(reader.next(first, second));
    CHECK_FALSE(reader.next(first, second));
    CHECK(reader.unpaired() == 3);
    CHECK(reader.where() == (folder / source).string() + ", line " + (source[0] == 'a' ? "4" : "1"));
  }
}

TEST_CASE("pair reader: reads tab-separated columns by number or by name") {
  const TemporaryFolder folder;
  write_file(folder / "a.tsv", "id\ten\tde\n1\tone, \"two\"\teins\n2\t\tzwei\n\n");
  CHECK(read({PairFormat::tsv, folder / "a.tsv", {}, "en", "de"}) ==
        Pairs{{"one, \"two\"", "eins"}, {"", "zwei"}, {"", ""}});
  CHECK(read({PairFormat::tsv, folder / "a.tsv", {}, "3", "1"}) ==
        Pairs{{"de", "id"}, {"eins", "1"}, {"zwei", "2"}, {"", ""}});
  CHECK(contains(error_of([&] {
                   read({PairFormat::tsv, folder / "a.tsv", {}, "1", "4"});
                 }),
                 "a.tsv, line 1: the row has 3 columns, but you asked for column 4"));
  CHECK(contains(error_of([&] {
                   read({PairFormat::tsv, folder / "a.tsv", {}, "en", "fr"});
                 }),
                 "its first row has no column 'fr'; it has 'id', 'en', 'de'"));
  CHECK(contains(error_of([&] { read({PairFormat::tsv, folder / "a.tsv", {}, "en", "2"}); }), "mix a name and a number"));
  write_file(folder / "none.tsv", "");
  CHECK(contains(error_of([&] { read({PairFormat::tsv, folder / "none.tsv", {}, "en", "de"}); }), "it has none"));
}

TEST_CASE("pair reader: CSV supports quotes and commas and line breaks in fields") {
  const TemporaryFolder folder;
  write_file(folder / "a.csv",
             "\xEF\xBB\xBF"
             "en,de\r\n"
             "\"Yes, he said \"\"now\"\".\",Ja.\r\n"
             "\"two\r\nlines\n\nmore\",\"\"\r\n"
             "plain \"quotes\" inside,\"\"\"a\"\"\"\n"
             ",last");
  CHECK(rows(folder / "a.csv") == std::vector<std::vector<std::string>>{{"en", "de"},
                                                                        {"Yes, he said \"now\".", "Ja."},
                                                                        {"two lines  more", ""},
                                                                        {"plain \"quotes\" inside", "\"a\""},
                                                                        {"", "last"}});
  CHECK(read({PairFormat::csv, folder / "a.csv", {}, "de", "en"}).at(0) ==
        std::pair<std::string, std::string>("Ja.", "Yes, he said \"now\"."));
  PairReader reader({PairFormat::csv, folder / "a.csv", {}, "en", "de"});
  std::string source, target;
  for (int i = 0; i < 3; ++i) CHECK(reader.next(source, target));
  CHECK(reader.where() ==
        (folder / "a.csv").string() + ", line 7");  // where the row begins: the one before it has four lines

  write_file(folder / "open.csv", "a,b\nc,\"d\ne,f\n");
  CHECK(contains(error_of([&] { rows(folder / "open.csv"); }), "open.csv, line 2: a quote is never closed"));
  write_file(folder / "after.csv", "a,b\n\"c\"d,e\n");
  CHECK(contains(error_of([&] { rows(folder / "after.csv"); }), "after.csv, line 2: 'd' follows a quoted field"));
}

TEST_CASE("pair reader: reads compressed files and names them in errors") {
  const TemporaryFolder folder;
  write_file(folder / "a", "one\ntwo\n");
  write_file(folder / "b.csv", "x,y\n1,\"2\n");
  REQUIRE(std::system(("gzip " + (folder / "a").string() + " && xz " + (folder / "b.csv").string()).c_str()) == 0);
  CHECK(read({PairFormat::lines, folder / "a.gz", folder / "a.gz"}) == Pairs{{"one", "one"}, {"two", "two"}});
  CHECK(contains(error_of([&] {
                   read({PairFormat::csv, folder / "b.csv.xz"});
                 }),
                 "b.csv.xz, line 2: a quote is never closed"));
  std::filesystem::resize_file(folder / "a.gz", 20);
  CHECK(contains(error_of([&] { read({PairFormat::tsv, folder / "a.gz", {}, "1", "1"}); }), "cannot unpack"));
}
