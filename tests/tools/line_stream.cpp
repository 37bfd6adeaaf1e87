#include "common/line_stream.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;
using Lines = std::vector<std::string>;

namespace {

struct Pipe {
  int ends[2];
  Pipe() { REQUIRE(::pipe(ends) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    close();
  }
  void write(const std::string& text) const {
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
};

}  // namespace

TEST_CASE("line stream: returns a limited number of lines with any line ending") {
  const TemporaryFolder folder;
  write_file(folder / "text", "a\n\nb\r\nc \xff\nlast");
  LineStream lines(folder / "text");
  CHECK(lines.next(2) == Lines{"a", ""});
  CHECK(lines.next(9) == Lines{"b", "c \xff", "last"});
  CHECK(lines.next(9).empty());
  CHECK(lines.next(9).empty());
  write_file(folder / "text", "");
  CHECK(LineStream(folder / "text").next(1).empty());
  write_file(folder / "text", "\n");
  CHECK(LineStream(folder / "text").next(5) == Lines{""});
  CHECK(contains(error_of([&] { LineStream(folder / "none"); }), "cannot read"));
}

TEST_CASE("line stream: removes a byte order mark only from the first line") {
  const TemporaryFolder folder;
  write_file(folder / "text", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n");
  LineStream lines(folder / "text");
  CHECK(lines.next(1) == Lines{"one"});
  CHECK(lines.next(9) == Lines{"\xEF\xBB\xBFtwo"});
  write_file(folder / "text", "\xEF\xBB\xBF");
  CHECK(LineStream(folder / "text").next(5) == Lines{""});
  Pipe pipe;
  LineStream piped(pipe.ends[0]);
  pipe.write("\xEF\xBB");
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pipe.write(
        "\xBF"
        "a\r\n");
  });
  CHECK(piped.next(9) == Lines{"a"});
}

TEST_CASE("line stream: reads lines longer than its buffer") {
  const TemporaryFolder folder;
  const std::string word(200000, 'x');
  write_file(folder / "text", word + "\nb\n" + word);
  LineStream lines(folder / "text");
  CHECK(lines.next(1) == Lines{word});
  CHECK(lines.next(5) == Lines{"b", word});
}

TEST_CASE("line stream: reports an unterminated line and UTF-16") {
  LineStream zeros("/dev/zero");
  CHECK(contains(error_of([&] { zeros.next(1); }), "line 1 of the text is longer than 16 MiB. Is the file text?"));
  const TemporaryFolder folder;
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    write_file(folder / "text", std::string(mark) + "a\n");
    CHECK(contains(error_of([&] { LineStream(folder / "text").next(1); }),
                   "the text is UTF-16. Convert it to UTF-8 (iconv "));
  }
}

TEST_CASE("line stream: a pipe returns available lines and waits only for the first") {
  Pipe pipe;
  LineStream lines(pipe.ends[0]);
  pipe.write("one\ntwo\nthr");
  CHECK(lines.next(10) == Lines{"one", "two"});
  pipe.write("ee\nfour\n");
  CHECK(lines.next(1) == Lines{"three"});
  CHECK(lines.next(10) == Lines{"four"});
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pipe.write("five\n");
    pipe.close();
  });
  CHECK(lines.next(10) == Lines{"five"});
  CHECK(lines.next(10).empty());
}
