#include "attn/data/word_alignments.hpp"

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("word alignments: reads sure and possible links from 1 in any order") {
  const GoldAlignment gold = parse_alignment("3-4 2p1 1-1 3-4 1p1", LinkOrder::source_target, "");
  CHECK(gold.sure == std::vector<WordLink>{{0, 0}, {2, 3}});
  CHECK(gold.possible == std::vector<WordLink>{{0, 0}, {1, 0}, {2, 3}});
  CHECK(parse_alignment("3-4 2p1", LinkOrder::target_source, "").possible == std::vector<WordLink>{{0, 1}, {3, 2}});
  CHECK(parse_alignment("  ", LinkOrder::source_target, "").possible.empty());
}

TEST_CASE("word alignments: rejects invalid links with their line number") {
  const TemporaryFolder folder;
  for (const std::string link : {"3", "3-", "-4", "3x4", "3-4-5", "0-1", "1p0", "3-99999999999999999999", "a-b"}) {
    write_file(folder / "gold", "1-1 2p2\n1-1 " + link + "\n");
    const std::string said = error_of([&] { read_alignments(folder / "gold"); });
    INFO(said);
    CHECK(contains(said, "gold, line 2: '" + link + "' is not a link. Write 3-4"));
  }
  CHECK(contains(error_of([&] { read_alignments(folder / "none"); }), "none: No such file"));
}

TEST_CASE("word alignments: reads a real file") {
  if (!has_data("alignment-gold")) return;
  const auto gold = read_alignments(std::filesystem::path(ATTN_TEST_DATA) / "alignment-gold/alignment.talp");
  REQUIRE(gold.size() == 508);
  Index sure = 0, possible = 0;
  for (const auto& one : gold)
    sure += static_cast<Index>(one.sure.size()), possible += static_cast<Index>(one.possible.size());
  CHECK(sure == 9613);
  CHECK(possible == 10534);
}
