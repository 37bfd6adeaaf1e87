#include "common/search_flags.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

namespace {

struct Read {
  PrintOptions print;
  std::filesystem::path draw;
  std::optional<SearchOptions> search;
  std::string wrong, given;

  explicit Read(const std::string& words, const std::optional<SearchOptions>& own = {}) {
    CLI::App app("test");
    SearchFlags flags(app, print, draw);
    try {
      app.parse(words, false);
      if (flags.given() != nullptr) given = flags.given()->get_name();
      search = flags.changes().of(own);
    } catch (const CLI::ParseError& error) {
      wrong = explain(app, error);
    } catch (const Error& error) {
      wrong = error.what();
    }
  }
};

const SearchOptions folders{.beam = 6,
                            .stop = Stop::no_better_now,
                            .free_end = true,
                            .score = {ScoreKind::length, 0.7},
                            .min_length = 2,
                            .no_repeat = 3};

}  // namespace

TEST_CASE("search flags: search starts only on request and output options do not change it") {
  for (const char* words : {"", "--alignments --json", "--draw tree.svg"}) {
    CAPTURE(words);
    CHECK_FALSE(Read(words).search);
    CHECK(Read(words, folders).search->beam == 6);
  }
  for (const char* words : {"--beam 1", "--scores", "--min-length 2", "--no-repeat 3", "--sample", "--complete 2"}) {
    CAPTURE(words);
    CHECK(Read(words).search);
  }
  CHECK(Read("--scores").search->beam == 1);
}

TEST_CASE("search flags: unspecified options keep the folder's search settings") {
  const auto stays = [](const SearchOptions& search) {
    return search.beam == 6 && search.stop == Stop::no_better_now && search.free_end && search.score.amount == 0.7 &&
           search.no_repeat == 3;
  };
  for (const char* words : {"--scores", "--n-best 6", "--min-length 4", "--alignments"}) {
    CAPTURE(words);
    REQUIRE(Read(words, folders).search);
    CHECK(stays(*Read(words, folders).search));
  }
  CHECK(Read("--scores", folders).search->min_length == 2);
  CHECK(Read("--min-length 4", folders).search->min_length == 4);
  const auto beam = *Read("--beam 4", folders).search;
  CHECK((beam.beam == 4 && beam.stop == Stop::no_better_now && beam.score.amount == 0.7 && beam.no_repeat == 3));
  CHECK((Read("--beam 1", folders).search->stop == Stop::complete && Read("--beam 1", folders).search->no_repeat == 3));
  CHECK(Read("--complete 2", folders).search->stop == Stop::complete);
  const auto amount = *Read("--penalty-amount 0.2", folders).search, gnmt = *Read("--length-penalty gnmt", folders).search;
  CHECK((amount.score.kind == ScoreKind::length && amount.score.amount == 0.2));
  CHECK((gnmt.score.kind == ScoreKind::gnmt && gnmt.score.amount == 0.6));
  CHECK(Read("--n-best 7", folders).wrong == "--n-best 7 needs --beam 7 or more; it is 6");
}

TEST_CASE("search flags: map to the right search options") {
  const Read beam("--beam 4 --n-best 3 --length-penalty gnmt --min-length 2 --no-repeat 3");
  REQUIRE(beam.search);
  CHECK(
      (beam.search->beam == 4 && beam.search->n_best == 3 && beam.search->min_length == 2 && beam.search->no_repeat == 3));
  CHECK((beam.search->score.kind == ScoreKind::gnmt && beam.search->score.amount == 0.6));
  CHECK(beam.print.n_best);
  CHECK(Read("--beam 2 --length-penalty reward").search->score.amount == 0.2);
  CHECK(Read("--beam 2 --length-penalty reward --penalty-amount 3").search->score.amount == 3);
  CHECK(Read("--beam 2").search->score.kind == ScoreKind::length);
  const Read sampled("--sample --top-k 5 --temperature 0.5 --n-best 7");
  REQUIRE(sampled.search);
  CHECK((sampled.search->sampling->top_k == 5 && sampled.search->sampling->temperature == 0.5));
  CHECK(sampled.search->n_best == 7);
  CHECK(Read("--draw tree.svg --beam 3").search->beam == 3);
  CHECK(Read("--top-p 0.5 --scores --sample").given == "--sample");
  CHECK(Read("").given.empty());
}

TEST_CASE("search flags: reject conflicting options") {
  CHECK(Read("--top-k 5").wrong == "--top-k requires --sample");
  CHECK(contains(Read("--sample --beam 2").wrong, "conflicts with --beam, --complete and --draw"));
  CHECK(contains(Read("--sample --draw tree.svg").wrong, "conflicts with --beam, --complete and --draw"));
  CHECK(contains(Read("--length-penalty none --penalty-amount 3").wrong,
                 "--penalty-amount conflicts with --length-penalty none"));
  CHECK(Read("--n-best 3 --beam 2").wrong == "--n-best 3 needs --beam 3 or more; it is 2");
  CHECK(Read("--n-best 3 --beam 2 --complete 3").wrong == "");
}
