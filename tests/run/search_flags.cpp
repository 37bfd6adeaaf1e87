#include "attn/run/search_flags.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

namespace {

struct Read {
  PrintOptions print;
  std::filesystem::path draw;
  std::optional<SearchOptions> search;
  std::string wrong;

  explicit Read(const std::string& words) {
    CLI::App app("test");
    SearchFlags flags(app, print, draw);
    try {
      app.parse(words, false);
      search = flags.search();
    } catch (const CLI::ParseError& error) {
      wrong = explain(app, error);
    }
  }
};

}  // namespace

TEST_CASE("search flags: no search where none is asked for, so that a folder's own stands") {
  CHECK_FALSE(Read("").search);
  CHECK_FALSE(Read("--alignments --json").search);
  for (const char* words : {"--beam 1", "--scores", "--min-length 2", "--no-repeat 3", "--sample", "--complete 2"}) {
    CAPTURE(words);
    CHECK(Read(words).search);
  }
}

TEST_CASE("search flags: what they mean") {
  const Read beam("--beam 4 --n-best 3 --length-penalty gnmt --min-length 2 --no-repeat 3");
  REQUIRE(beam.search);
  CHECK(
      (beam.search->beam == 4 && beam.search->n_best == 3 && beam.search->min_length == 2 && beam.search->no_repeat == 3));
  CHECK((beam.search->score.kind == Score::gnmt && beam.search->score.amount == 0.6));
  CHECK(beam.print.n_best);
  CHECK(Read("--beam 2 --length-penalty reward").search->score.amount == 0.2);
  CHECK(Read("--beam 2 --length-penalty reward --penalty-amount 3").search->score.amount == 3);
  CHECK(Read("--beam 2").search->score.kind == Score::length);
  const Read sampled("--sample --top-k 5 --temperature 0.5 --n-best 7");
  REQUIRE(sampled.search);
  CHECK((sampled.search->sampling->top_k == 5 && sampled.search->sampling->temperature == 0.5));
  CHECK(sampled.search->n_best == 7);
  CHECK(Read("--draw tree.svg").search->beam == 2);
  CHECK(Read("--draw tree.svg --beam 3").search->beam == 3);
}

TEST_CASE("search flags: options that do not go together are refused") {
  CHECK(Read("--top-k 5").wrong == "--top-k goes with --sample");
  CHECK(contains(Read("--sample --beam 2").wrong, "it goes without --beam, --complete and --draw"));
  CHECK(contains(Read("--sample --draw tree.svg").wrong, "it goes without --beam, --complete and --draw"));
  CHECK(Read("--n-best 3 --beam 2").wrong == "--n-best 3 needs a --beam as wide; it is 2");
  CHECK(Read("--n-best 3 --beam 2 --complete 3").wrong == "");
}
