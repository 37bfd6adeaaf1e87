#include "attn/metrics/alignment_error.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

namespace {

GoldAlignment gold(std::string_view links) { return parse_alignment(links, LinkOrder::source_target, ""); }

}  // namespace

TEST_CASE("alignment error: matches a manual calculation") {
  // S = {1-1, 2-2, 3-4}, P = S and {3-3, 4-4}; A = {1-1, 2-3, 3-3, 3-4}: two sure, three possible.
  AlignmentError error;
  error.add({{0, 0}, {1, 2}, {2, 2}, {2, 3}}, gold("1-1 2-2 3-4 3p3 4p4"));
  CHECK(error.rate() == doctest::Approx(1 - (2.0 + 3) / (4 + 3)));
  CHECK(error.precision() == doctest::Approx(3.0 / 4));
  CHECK(error.recall() == doctest::Approx(2.0 / 3));
}

TEST_CASE("alignment error: sums counts over sentences and counts each link once") {
  const std::vector<std::vector<WordLink>> alignments{{{0, 0}, {0, 0}}, {{1, 1}, {0, 1}}};
  const std::vector<GoldAlignment> references{gold("1-1"), gold("1-2 2p1")};
  const AlignmentError error = alignment_error(alignments, references);
  CHECK(error.links == 3);
  CHECK(error.rate() == doctest::Approx(1 - (2.0 + 2) / (3 + 2)));
}

TEST_CASE("alignment error: ranges from perfect to no correct link") {
  const GoldAlignment reference = gold("1-1 2-2 2p1");
  const auto rate = [&](std::vector<WordLink> links) {
    AlignmentError error;
    error.add(std::move(links), reference);
    return error.rate();
  };
  CHECK(rate({{0, 0}, {1, 1}}) == 0);
  CHECK(rate({{0, 0}, {1, 1}, {1, 0}}) == 0);  // a possible link costs nothing
  CHECK(rate({{0, 1}}) == 1);
  CHECK(rate({}) == 1);
  CHECK(AlignmentError{}.rate() == 0);  // nothing to find, nothing found
}

TEST_CASE("alignment error: rejects mismatched input") {
  const std::vector<std::vector<WordLink>> none;
  const std::vector<GoldAlignment> one{gold("1-1")};
  CHECK(contains(error_of([&] { alignment_error(none, one); }), "0 alignments, but 1 gold alignments"));
  CHECK(error_of([&] { require_within(gold("2-3"), 2, 3, 7); }).empty());
  CHECK(contains(error_of([&] { require_within(gold("2-3"), 3, 2, 7); }),
                 "line 7 links source word 2 and target word 3, but the sentences have 3 and 2 words"));
  CHECK(!error_of([&] { require_within(gold("4-1"), 3, 2, 7); }).empty());
}
