#include "attn/align/word_aligner.hpp"

#include <doctest/doctest.h>

#include "attn/align/replace_unknown.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

const ParallelText text{{"the house", "the book", "a book", "a red house", ""},
                        {"das haus", "das buch", "ein buch", "ein rotes haus", ""}};

}  // namespace

TEST_CASE("word aligner: learns both directions of a text") {
  const WordAligner align = WordAligner::train(text, {.iterations = 20});
  using Links = std::vector<WordLink>;
  CHECK(align("the red book", "das rote buch") == Links{{0, 0}, {2, 2}});  // "rote" was never seen
  CHECK(align("house the", "das haus") == Links{{0, 1}, {1, 0}});
  CHECK(align("house", "das haus") == Links{{0, 1}});
  CHECK(align("", "das haus").empty());
  CHECK(align("the", "").empty());
  CHECK(align("unseen words", "das haus").empty());
  const WordTranslation translate(align.forward_table(), align.source(), align.target());
  CHECK(translate("red") == "rotes");
}

TEST_CASE("word aligner: a saved aligner loads unchanged") {
  const TemporaryFolder folder;
  const WordAligner align = WordAligner::train(text, {.iterations = 20, .prune_below = 0.01});
  align.save(folder / "tables");
  const WordAligner loaded = WordAligner::load(folder / "tables");
  CHECK(loaded.forward_table() == align.forward_table());
  CHECK(loaded.backward("a red house", "ein rotes haus") == align.backward("a red house", "ein rotes haus"));
  CHECK(loaded.source().words() == align.source().words());
  CHECK(loaded("a red house", "ein rotes haus") == align("a red house", "ein rotes haus"));
  CHECK(contains(error_of([&] { WordAligner::load(folder / "none"); }), "source.vocab"));
}

TEST_CASE("word aligner: rejects mismatched and empty texts") {
  CHECK(contains(error_of([] { WordAligner::train({{"a"}, {}}); }), "1 source lines, but 0 target lines"));
  CHECK(contains(error_of([] { WordAligner::train({{""}, {""}}); }), "the text has no words"));
}
