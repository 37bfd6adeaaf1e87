#include "attn/text/byte_bpe.hpp"

#include <set>

#include "support/files.hpp"

using namespace attn;

TEST_CASE("byte alphabet: 256 distinct characters without spaces or control characters") {
  const std::set<char32_t> letters(byte_alphabet::letters.begin(), byte_alphabet::letters.end());
  CHECK(letters.size() == 256);
  for (const char32_t letter : letters) CHECK((letter > 0x20 && letter != 0x7F && !(letter >= 0x80 && letter <= 0xA0)));
  CHECK(byte_alphabet::letters[' '] == U'\u0120');
  CHECK(byte_alphabet::letters['\n'] == U'\u010A');
  CHECK(byte_alphabet::letters[0] == U'\u0100');
  CHECK(byte_alphabet::letters[0xAD] == U'\u0143');
}

TEST_CASE("byte alphabet: all bytes survive a round trip") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  const std::string written = byte_alphabet::written(bytes);
  CHECK(utf8::first_invalid(written) == std::string::npos);
  CHECK(byte_alphabet::read(written) == bytes);
  CHECK(byte_alphabet::written(" \u00E4") == "\u0120\u00C3\u00A4");
  CHECK(byte_alphabet::read("") == "");
}

TEST_CASE("byte alphabet: other characters are not bytes") {
  for (const std::string text : {"a b", "\u0144", "\u00AD", "\u4E2D", "a\n", "\xFF", "\x7F"}) {
    CAPTURE(text);
    CHECK_FALSE(byte_alphabet::read(text).has_value());
  }
}
