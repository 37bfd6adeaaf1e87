#include "attn/text/plain_words.hpp"

#include "support/files.hpp"

using namespace attn;

namespace {

std::string expanded(std::string line) {
  expand_contractions(line);
  return line;
}

}  // namespace

TEST_CASE("contractions: are expanded with each ending once") {
  CHECK(expanded("we don't know what they're doing, I'm sure") == "we do not know what they are doing, I am sure");
  CHECK(expanded("I've said that's it; you'd agree, he'll too") == "I have said that has it; you had agree, he shall too");
  CHECK(expanded("can't won't shan't sha'n't ain't") == "cannot will not shall not shall not am not");
  CHECK(expanded("let's meet at 5 o'clock, ma'am, y'all, 'cause so's he") ==
        "let us meet at 5 of the clock, madam, you all, because so as he");
  CHECK(expanded("that'd how'd where'd we'll how'll") == "that would how did where did we will how will");
}

TEST_CASE("contractions: a word may contain a contraction or become one") {
  CHECK(expanded("she's seen what she'd do") == "she has seen what she had do");
  CHECK(expanded("we'll've that'd've couldn't've I'd've") == "we will have that would have could not've I had've");
}

TEST_CASE("contractions: other words stay unchanged") {
  for (const char* line : {"", "Parliament's rights", "Don't. It's not. THEY'RE", "don’t", "'", "''", "n't", "'ve 's"}) {
    CAPTURE(line);
    CHECK(expanded(line) == line);
  }
}

TEST_CASE("contractions: several in one line and at its ends") {
  CHECK(expanded("it's it's'it's") == "it has it has'it has");
  CHECK(expanded("isn't") == "is not");
  std::string many, written_out;
  for (int i = 0; i < 20000; ++i) many += "don't ", written_out += "do not ";
  CHECK(expanded(many) == written_out);
}
