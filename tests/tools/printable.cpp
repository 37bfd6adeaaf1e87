#include "common/score_test.hpp"

#include "support/files.hpp"

TEST_CASE("printable: keeps letters and replaces control characters by their pictures") {
  CHECK(attn::printable("") == "");
  CHECK(attn::printable("Der Hund, größer als 3 €: 😀") == "Der Hund, größer als 3 €: 😀");
  CHECK(attn::printable("\x1b[31mrot\x1b[0m\r\n\t") == "␛[31mrot␛[0m␍␊␉");
  CHECK(attn::printable(std::string_view("\0\x7f", 2)) == "␀␡");
}

TEST_CASE("printable: replaces invalid UTF-8 and other characters by U+FFFD") {
  CHECK(attn::printable("a\xc2\x9b"
                        "31m") == "a\uFFFD31m");
  CHECK(attn::printable("a\xc2\xa0z") == "a\xc2\xa0z");
  CHECK(attn::printable("\xff\xe2\x82") == attn::printable("\xff") + attn::printable("\xe2\x82"));
  CHECK(attn::printable("\xff") == "\uFFFD");
}
