#include "common/attention_error.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;

namespace {

// Two words a side, a token each, and the special tokens: three rows and columns.
const WordTokens source{{5, 6}, {0, 1, 2}}, target{{8, 9}, {0, 1, 2}};
const GoldAlignment gold{{{0, 0}}, {{0, 0}, {1, 1}}};

AttentionMap map(const char* layer, int head, Side at, std::vector<float> weights) {
  return {layer, head, 2, Side::target, at, 3, 3, std::move(weights)};
}

/// Two heads whose mean links 0-0 and 1-1 by the states that write, and 1-0 and 1-1 by those that have read.
const std::vector<AttentionMap> maps{map("self", 0, Side::target, {1, 0, 0, 1, 0, 0, 1, 0, 0}),
                                     map("self", 1, Side::target, {1, 0, 0, 1, 0, 0, 1, 0, 0}),
                                     map("cross", 0, Side::source, {1, 0, 0, 0, 0.9f, 0.1f, 0, 0.9f, 0.1f}),
                                     map("cross", 1, Side::source, {0.2f, 0.8f, 0, 0.2f, 0.7f, 0.1f, 0.2f, 0.7f, 0.1f})};

}  // namespace

TEST_CASE("attention error: averages the heads of cross-attention layers in both alignment directions") {
  AttentionError error;
  error.add(maps, source, target, gold, 1);
  error.add(maps, source, target, gold, 2);
  REQUIRE(error.layers().size() == 1);
  const auto& [name, writing, reading] = error.layers()[0];
  CHECK(name == "cross");
  CHECK((writing.links == 4 && writing.sure == 2 && writing.links_in_sure == 2 && writing.links_in_gold == 4));
  CHECK((reading.links == 4 && reading.sure == 2 && reading.links_in_sure == 0 && reading.links_in_gold == 2));
  CHECK(error.to_string() == "  0.000  1.000  1.000  |  0.667  0.500  0.000  cross\n");
}

TEST_CASE("attention error: rejects models without cross-attention and gold links of other files") {
  AttentionError error;
  error.add(std::span(maps).first(2), source, target, gold, 1);
  CHECK(error.layers().empty());
  CHECK(contains(error_of([&] { (void)error.to_string(); }), "no attention over source tokens"));
  const GoldAlignment beyond{{}, {{2, 0}}};
  CHECK(contains(error_of([&] { error.add(maps, source, target, beyond, 7); }), "the gold alignment of line 7"));
}
