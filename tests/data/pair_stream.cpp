#include "attn/data/pair_stream.hpp"

#include <doctest/doctest.h>

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

const auto nowhere = [] { return std::string("here"); };

/// Which of some pairs a filter keeps.
std::vector<bool> kept(PairFilter& filter, const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<bool> all;
  for (auto [source, target] : pairs) all.push_back(filter.keep(source, target, nowhere));
  return all;
}

}  // namespace

TEST_CASE("pair stream: drops or keeps blank sides and counts them") {
  CHECK(is_blank(""));
  CHECK(is_blank(" \t\u00A0\u3000"));
  CHECK_FALSE(is_blank(" ."));
  PairFilter drop({}), keep({.blank = BlankSide::keep});
  CHECK(kept(drop, {{"a", "b"}, {"a", " "}, {"", "b"}, {"", ""}}) == std::vector{true, false, false, false});
  CHECK(drop.counts() == RuleCounts{.read = 4, .kept = 1, .blank = 3});
  CHECK(kept(keep, {{"a", "b"}, {"a", " "}}) == std::vector{true, true});
  CHECK(keep.counts() == RuleCounts{.read = 2, .kept = 2, .blank = 1});
}

TEST_CASE("pair stream: drops or repairs or rejects invalid UTF-8") {
  PairFilter drop({}), repair({.invalid = InvalidUtf8::repair}), refuse({.invalid = InvalidUtf8::refuse});
  CHECK(kept(drop, {{"sch\xF6n", "b"}, {"a", "\xFF"}, {"ö", "b"}}) == std::vector{false, false, true});
  CHECK(drop.counts() == RuleCounts{.read = 3, .kept = 1, .invalid = 2});
  std::string source = "sch\xF6n", target = "b";
  CHECK(repair.keep(source, target, nowhere));
  CHECK(source == "sch\uFFFDn");
  CHECK(target == "b");
  CHECK(repair.counts() == RuleCounts{.read = 1, .kept = 1, .invalid = 1});
  CHECK(contains(error_of([&] { kept(refuse, {{"a", "b"}, {"sch\xF6n", "b"}}); }), "here: byte 4 is not valid UTF-8"));
  CHECK(contains(error_of([&] { kept(refuse, {{"a", "\xFF"}}); }), "here: byte 1 of the target is not valid UTF-8"));
}

TEST_CASE("pair stream: keeps the first of duplicate pairs") {
  PairFilter drop({.duplicates = Duplicates::drop}), keep({});
  const std::vector<std::pair<std::string, std::string>> pairs{{"a", "b"}, {"a", "c"}, {"ab", ""},
                                                               {"a", "b"}, {"", "ab"}, {"a", "c"}};
  CHECK(kept(drop, pairs) == std::vector{true, true, false, false, false, false});
  CHECK(drop.counts() == RuleCounts{.read = 6, .kept = 2, .blank = 2, .duplicates = 2});
  kept(keep, pairs);
  CHECK(keep.counts() == RuleCounts{.read = 6, .kept = 4, .blank = 2});
}

TEST_CASE("pair stream: reports progress through one or several files") {
  const TemporaryFolder folder;
  std::string lines, rows = "en,de\n";
  for (int i = 0; i < 100; ++i) lines += "a line\r\n", rows += "\"a\nline\",x\n";
  write_file(folder / "a.en", lines);
  write_file(folder / "a.de", lines);
  write_file(folder / "a.csv", rows);
  PairStream stream({.files = {{PairFormat::lines, folder / "a.en", folder / "a.de"}}});
  stream.next(25);
  CHECK(stream.begun() == doctest::Approx(0.25));
  stream.next(50);
  CHECK(stream.begun() == doctest::Approx(0.75));
  PairStream both({.files = {{PairFormat::lines, folder / "a.en", folder / "a.de"},
                             {PairFormat::csv, folder / "a.csv", {}, "en", "de"}}});
  both.next(150);
  const auto size = static_cast<double>(lines.size()), other = static_cast<double>(rows.size());
  CHECK(both.begun() == doctest::Approx((size + 6 + (other - 6) / 2) / (size + other)));
}

TEST_CASE("pair stream: reads several files in blocks with the same rules") {
  const TemporaryFolder folder;
  write_file(folder / "a.en", "one\n\ntwo\n");
  write_file(folder / "a.de", "eins\nx\nzwei\n");
  write_file(folder / "b.tsv", "three\tdrei\none\teins\n");
  PairStream stream({.files = {{PairFormat::lines, folder / "a.en", folder / "a.de"}, {PairFormat::tsv, folder / "b.tsv"}},
                     .rules = {.duplicates = Duplicates::drop}});
  CHECK(stream.begun() == 0);
  CHECK(stream.next(1).source == std::vector<std::string>{"one"});
  const ParallelText rest = stream.next(10);
  CHECK(rest.source == std::vector<std::string>{"two", "three"});
  CHECK(rest.target == std::vector<std::string>{"zwei", "drei"});
  CHECK(stream.next(10).source.empty());
  CHECK(stream.counts() == RuleCounts{.read = 5, .kept = 3, .blank = 1, .duplicates = 1});
  CHECK(stream.begun() == 1);
  CHECK(PairStream({}).next(5).source.empty());
}
