#include "attn/text/utf8.hpp"

#include <span>

#include "support/files.hpp"

using namespace attn;

namespace {

bool sorted_apart(std::span<const unicode::CodeRange> ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first > ranges[i].last) return false;
    if (i > 0 && ranges[i].first <= ranges[i - 1].last + 1) return false;
  }
  return true;
}

std::size_t total(std::span<const unicode::CodeRange> ranges) {
  std::size_t sum = 0;
  for (const auto& [first, last] : ranges) sum += last - first + 1;
  return sum;
}

}  // namespace

TEST_CASE("unicode classes: tables are sorted and match the code point counts of Unicode 16") {
  CHECK(sorted_apart(unicode::letters));
  CHECK(sorted_apart(unicode::numbers));
  CHECK(sorted_apart(unicode::spaces));
  CHECK(total(unicode::letters) == 141028);
  CHECK(total(unicode::numbers) == 1911);
  CHECK(total(unicode::spaces) == 25);
}

TEST_CASE("unicode classes: classes are disjoint and the search agrees with the tables") {
  std::size_t letters = 0, numbers = 0, spaces = 0, doubles = 0;
  for (char32_t code = 0; code < 0x110000; ++code) {
    const std::size_t letter = unicode::is_letter(code), number = unicode::is_number(code), space = unicode::is_space(code);
    letters += letter, numbers += number, spaces += space, doubles += letter + number + space > 1;
  }
  CHECK(letters == total(unicode::letters));
  CHECK(numbers == total(unicode::numbers));
  CHECK(spaces == total(unicode::spaces));
  CHECK(doubles == 0);
}

TEST_CASE("unicode classes: representative characters have the right class") {
  for (const char32_t code : U"azAZ\u00AA\u00E4\u00DF\u0416\u4E2D\u3042\u02B0\U00020000\u1C89")
    if (code) CHECK(unicode::is_letter(code));
  for (const char32_t code : U"09\u00B2\u00BD\u0663\u2167\u3007\U0001D7CE")
    if (code) CHECK(unicode::is_number(code));
  for (const char32_t code : U"\t\n\v\f\r \u0085\u00A0\u1680\u2003\u2028\u2029\u202F\u205F\u3000")
    if (code) CHECK(unicode::is_space(code));
  // Combining marks, joiners, the zero-width space, the old separators 1C to 1F and the byte order mark are none of the
  // three.
  for (const char32_t code : U"'_<@[`{/:\u0301\u200B\u200D\u20AC\uFEFF\x1C\x1F\u180E\U0001F600\U0010FFFF") {
    CAPTURE(static_cast<std::uint32_t>(code));
    CHECK_FALSE((unicode::is_letter(code) || unicode::is_number(code) || unicode::is_space(code)));
  }
}
