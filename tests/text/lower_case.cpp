#include "attn/text/utf8.hpp"

#include "support/files.hpp"

using namespace attn;

TEST_CASE("lower case: lowercases European capitals and nothing else") {
  CHECK(lower_case("The EU's 27 States!") == "the eu's 27 states!");
  CHECK(lower_case("ÄÖÜẞ Straße ÀÉÎÕÑ×÷") == "äöüß straße àéîõñ×÷");
  CHECK(lower_case("ŠPIDLA ŐRY ŢICĂU ȘȚ ŁÓDŹ Ğ ÅØÆ Ÿ") == "špidla őry ţicău șț łódź ğ åøæ ÿ");
  CHECK(lower_case("ΑΒΓ ΆΈΌΏ ΕU") == "αβγ άέόώ εu");
  CHECK(lower_case("ЁЖЯ ЇҐ") == "ёжя їґ");
  CHECK(lower_case("漢字 ½ … 😀") == "漢字 ½ … 😀");
  CHECK(lower_case("").empty());
}

TEST_CASE("lower case: changes only the capital of each pair") {
  for (char32_t code = 0; code < 0x3000; ++code) {
    const char32_t small = unicode::to_lower(code);
    CAPTURE(static_cast<std::uint32_t>(code));
    CHECK(unicode::to_lower(small) == small);
  }
  static_assert(unicode::to_lower(0xD7) == 0xD7, "the times sign between the capitals of Latin-1");
  static_assert(unicode::to_lower(0x178) == 0xFF && unicode::to_lower(0x1E9E) == 0xDF);
}

TEST_CASE("lower case: leaves invalid UTF-8 unchanged") {
  CHECK(lower_case("A\xFF"
                   "B\xC3") ==
        "a\xFF"
        "b\xC3");
}
