#include "attn/data/parallel_text.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

/// A folder whose files are written by name.
struct Folder : TemporaryFolder {
  std::string write(const char* name, std::string_view bytes) const {
    write_file(*this / name, bytes);
    return (*this / name).string();
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("read_lines: accepts every kind of line ending") {
  const Folder folder;
  CHECK(read_lines(folder.write("unix", "one\ntwo\n")) == Lines{"one", "two"});
  CHECK(read_lines(folder.write("windows", "one\r\ntwo\r\n")) == Lines{"one", "two"});
  CHECK(read_lines(folder.write("no_last_end", "one\ntwo")) == Lines{"one", "two"});
  CHECK(read_lines(folder.write("no_last_line_feed", "one\r\ntwo\r")) == Lines{"one", "two"});
  CHECK(read_lines(folder.write("carriage_return_inside", "a\rb\nc\n")) == Lines{"a\rb", "c"});
}

TEST_CASE("read_lines: keeps empty lines and spaces") {
  const Folder folder;
  CHECK(read_lines(folder.write("nothing", "")).empty());
  CHECK(read_lines(folder.write("one_empty", "\n")) == Lines{""});
  CHECK(read_lines(folder.write("empty_between", "a\n\n b \n\r\n")) == Lines{"a", "", " b ", ""});
}

TEST_CASE("read_lines: drops a byte order mark only at the start") {
  const Folder folder;
  CHECK(read_lines(folder.write("mark", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n")) == Lines{"one", "\xEF\xBB\xBFtwo"});
  CHECK(read_lines(folder.write("mark_alone", "\xEF\xBB\xBF")) == Lines{""});
}

TEST_CASE("read_lines: only line feeds end lines") {
  const Folder folder;
  const std::string line = "a\u2028b\u0085c\v\f" + std::string(1, '\0') + "d";  // what other readers split at
  CHECK(read_lines(folder.write("separators", line + "\ne\n")) == Lines{line, "e"});
}

TEST_CASE("read_lines: reports the position of invalid UTF-8") {
  const Folder folder;
  const std::string path = folder.write("latin1", "gut\nsch\xF6n\n");
  CHECK(error_of([&] { read_lines(path); }) ==
        path + ", line 2: byte 4 is not valid UTF-8. Convert the file to UTF-8 (iconv), or fix the line.");
  for (const char* bytes : {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    const std::string bad = folder.write("bad", std::string("ok\nok\nok ") + bytes + "\nok\n");
    CHECK_MESSAGE(error_of([&] { read_lines(bad); }).find(", line 3: byte 4 ") != std::string::npos, bytes);
  }
}

TEST_CASE("read_lines: names a file that it cannot read") {
  const Folder folder;
  const std::string missing = (folder / "missing").string();
  CHECK(error_of([&] { read_lines(missing); }) ==
        "cannot read " + missing + ": No such file or directory; check the path and its permissions");
  CHECK(error_of([&] { read_lines((folder / "")); }) ==
        "cannot read " + (folder / "").string() + ": it is a folder. Name a file inside it.");
  CHECK(error_of([&] { read_lines(folder.write("file", "") + "/inside"); }).starts_with("cannot read "));

  if (::geteuid() != 0) {  // permissions do not bind root
    const std::string inside = (folder / "locked" / "file").string();
    fs::create_directory(folder / "locked");
    fs::permissions(folder / "locked", fs::perms::none);
    CHECK(error_of([&] { read_lines(inside); }) ==
          "cannot read " + inside + ": Permission denied; check the path and its permissions");
    fs::permissions(folder / "locked", fs::perms::all);  // so that it can be removed
  }
  if (fs::exists("/proc/self/mem"))  // opens, but its first byte cannot be read
    CHECK(error_of([&] { read_lines("/proc/self/mem"); }) ==
          "cannot read /proc/self/mem: reading failed after line 0; check the disk");
}

TEST_CASE("read_parallel: pairs lines") {
  const Folder folder;
  const ParallelText text =
      read_parallel(folder.write("en", "a house\n\nyes\n"), folder.write("de", "ein Haus\nleer\r\nja"));
  CHECK(text.source == Lines{"a house", "", "yes"});
  CHECK(text.target == Lines{"ein Haus", "leer", "ja"});
}

TEST_CASE("read_parallel: rejects files of unequal length") {
  const Folder folder;
  const std::string source = folder.write("en", "a\nb\nc\n"), target = folder.write("de", "a\nb\n");
  const std::string message = error_of([&] { read_parallel(source, target); });
  CHECK(message ==
        source + " has 3 lines and " + target +
            " has 2. Parallel files need the same number of lines: line i of one translates line i of the other.");
  CHECK(error_of([&] { read_parallel(source, folder / "missing"); }).starts_with("cannot read "));
}

TEST_CASE("for_each_pair: holds one pair at a time and rejects files of unequal length") {
  const Folder folder;
  const std::string source = folder.write("en", "a\nb\n"), target = folder.write("de", "c\nd\n"),
                    longer = folder.write("longer", "c\nd\ne\nf\n");
  Lines seen;
  const auto see = [&](const std::string& one, const std::string& other) { seen.push_back(one + other); };
  for_each_pair(source, target, see);
  CHECK(seen == Lines{"ac", "bd"});
  CHECK(
      error_of([&] { for_each_pair(source, longer, see); }).starts_with(source + " has 2 lines and " + longer + " has 4"));
  CHECK(
      error_of([&] { for_each_pair(longer, source, see); }).starts_with(longer + " has 4 lines and " + source + " has 2"));
}
