#include "attn/text/utf8.hpp"

#include "support/files.hpp"

using namespace attn;

TEST_CASE("utf8: every code point survives a round trip and only code points encode") {
  std::size_t wrong = 0;
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code == 0xD800) code = 0xE000;
    std::string text;
    utf8::append(text, code);
    const auto read = utf8::decode(text, 0);
    const std::size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    wrong += !read.valid || read.code != code || read.length != length || text.size() != length;
    wrong += utf8::first_invalid(text) != std::string::npos;
    for (std::size_t cut = 1; cut < length; ++cut) {
      const auto half = utf8::decode(text.substr(0, cut), 0);  // a prefix is one wrong sequence
      wrong += half.valid || half.length != cut;
    }
  }
  CHECK(wrong == 0);
  std::string text = "kept";
  for (const char32_t code : {U'\xD800', U'\xDFFF', char32_t{0x110000}, char32_t{0xFFFFFFFF}})
    CHECK(contains(error_of([&] { utf8::append(text, code); }), "not a Unicode character"));
  CHECK(text == "kept");
}

TEST_CASE("utf8: finds the first invalid byte at any position") {
  struct Case {
    std::string bytes;
    std::size_t length;  // of the sequence to step over
  };
  const Case cases[] = {{"\x80", 1},
                        {"\xBF", 1},
                        {"\xC0\x80", 1},
                        {"\xC1\xBF", 1},
                        {"\xC3", 1},
                        {"\xC3(", 1},
                        {"\xE0\x9F\xBF", 1},
                        {"\xE2\x82", 2},
                        {"\xE2(", 1},
                        {"\xED\xA0\x80", 1},
                        {"\xED\xBF\xBF", 1},
                        {"\xEF\xBF", 2},
                        {"\xF0\x8F\xBF\xBF", 1},
                        {"\xF0\x9F\x98", 3},
                        {"\xF4\x90\x80\x80", 1},
                        {"\xF5\x80\x80\x80", 1},
                        {"\xF8", 1},
                        {"\xFE", 1},
                        {"\xFF", 1}};
  for (const auto& one : cases) {
    const std::string& bytes = one.bytes;
    const std::size_t length = one.length;
    CAPTURE(bytes);
    const auto read = utf8::decode(bytes, 0);
    CHECK_FALSE(read.valid);
    CHECK(read.length == length);
    CHECK(read.code == 0xFFFD);
    for (const std::string before : {"", "a", "\xC3\xA4", "\xF0\x9F\x98\x80"}) {
      CHECK(utf8::first_invalid(before + bytes + "z") == before.size());
      CHECK(contains(error_of([&] { utf8::require_valid(before + bytes); }),
                     "byte " + std::to_string(before.size()) + " of"));
    }
  }
  CHECK(utf8::first_invalid("") == std::string::npos);
  CHECK(utf8::first_invalid(std::string("\0a\0", 3)) == std::string::npos);
  CHECK_NOTHROW(utf8::require_valid("gr\xC3\xBC\xC3\x9F dich"));
}

TEST_CASE("utf8: repair replaces only invalid bytes") {
  CHECK(utf8::repair("") == "");
  CHECK(utf8::repair("\xC3\xA4 ok") == "\xC3\xA4 ok");
  CHECK(utf8::repair("a\xFF"
                     "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(utf8::repair("\xE2\x82") == "\xEF\xBF\xBD");                              // one cut character, one sign
  CHECK(utf8::repair("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate, byte by byte
}
