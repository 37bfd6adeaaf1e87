#include "attn/data/line_reader.hpp"

#include <vector>

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("line reader: reads and counts lines") {
  const TemporaryFolder folder;
  write_file(folder / "text", "\xEF\xBB\xBFone\r\n\ntwo");
  LineReader reader(folder / "text");
  std::string line;
  CHECK(reader.lines() == 0);
  for (const char* expected : {"one", "", "two"}) {
    CHECK(reader.next(line));
    CHECK(line == expected);
  }
  CHECK_FALSE(reader.next(line));
  CHECK_FALSE(reader.next(line));
  CHECK(reader.lines() == 3);
  CHECK(reader.name() == (folder / "text").string());
}

TEST_CASE("line reader: distinguishes compressed files from files in other encodings") {
  const TemporaryFolder folder;
  const auto error_with = [&](std::string_view bytes) {
    write_file(folder / "text", bytes);
    return error_of([&] {
      LineReader reader(folder / "text");
      for (std::string line; reader.next(line);) continue;
    });
  };
  CHECK(contains(error_with("\3757zXZ\1\2"), "text is compressed. Unpack it first (xz -d)."));
  CHECK(contains(error_with("\x1F\x8B\b"), "text is compressed. Unpack it first (gzip -d)."));
  CHECK(contains(error_with("\xFF\xFE"
                            "a"),
                 "text is UTF-16. Convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)."));
  CHECK(contains(error_with("\xFE\xFF"
                            "a"),
                 "text is UTF-16. "));
  CHECK(contains(error_with("ok\n\3757zXZ\n"), "text, line 2: byte 1 is not valid UTF-8"));
}

TEST_CASE("line reader: reads bytes that are not UTF-8 and reports a given name in errors") {
  const TemporaryFolder folder;
  write_file(folder / "text", "sch\xF6n\r\nja\n");
  LineReader reader(folder / "text", "the text");
  std::string line;
  CHECK(reader.next_bytes(line));
  CHECK(line == "sch\xF6n");
  CHECK(reader.next(line));
  CHECK(line == "ja");
  CHECK(reader.lines() == 2);
  CHECK_FALSE(reader.next_bytes(line));
  LineReader again(folder / "text", "the text");
  CHECK(contains(error_of([&] { again.next(line); }), "the text, line 1: byte 4 is not valid UTF-8"));
}

TEST_CASE("line reader: reads any bytes and lines of up to 16 MiB") {
  const TemporaryFolder folder;
  std::vector<std::string> lines;
  for (const std::size_t length : {0, 1, 8190, 8191, 8192, 8193, 16382, 16383, 100000}) lines.emplace_back(length, 'x');
  lines.push_back(std::string("a\0b", 3));
  for (const char* end : {"\n", ""}) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_file(folder / "text", text + "last" + end);
    LineReader reader(folder / "text");
    std::string line;
    for (const std::string& expected : lines) {
      REQUIRE(reader.next(line));
      CHECK(line == expected);
    }
    CHECK(reader.next(line));
    CHECK(line == "last");
    CHECK_FALSE(reader.next(line));
  }
  write_file(folder / "text", "one\n" + std::string(LineReader::longest_line + 10000, 'x'));
  LineReader reader(folder / "text");
  std::string line;
  CHECK(reader.next(line));
  CHECK(contains(error_of([&] { reader.next(line); }), "text, line 2: longer than 16 MiB. Is the file text?"));
}
