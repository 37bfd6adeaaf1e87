#include "attn/data/line_reader.hpp"

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("line reader: a line at a time, and their number") {
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

TEST_CASE("line reader: compressed files are told from files in another encoding") {
  const TemporaryFolder folder;
  const auto error_with = [&](std::string_view bytes) {
    write_file(folder / "text", bytes);
    return error_of([&] {
      LineReader reader(folder / "text");
      for (std::string line; reader.next(line);) continue;
    });
  };
  CHECK(contains(error_with("\3757zXZ\1\2"), "text is compressed; unpack it first (xz -d does)"));
  CHECK(contains(error_with("\x1F\x8B\b"), "text is compressed; unpack it first (gzip -d does)"));
  CHECK(contains(error_with("ok\n\3757zXZ\n"), "text, line 2: byte 1 is not valid UTF-8"));
}

TEST_CASE("line reader: bytes that are not UTF-8 can be read, and a pipe can have a name") {
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
