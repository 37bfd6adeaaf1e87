#include "attn/models/active_rows.hpp"

#include <doctest/doctest.h>

#include <vector>

using attn::ActiveRows;
using attn::Index;

TEST_CASE("active rows: repeated rows use slots of their own sentence at multiples of the sentence count") {
  ActiveRows rows(2, 6);
  rows.select(std::vector<Index>{0, 0, 0, 1, 1});
  rows.find_places();
  CHECK(rows.places == std::vector<std::int32_t>{0, 2, 4, 1, 3});
  CHECK(rows.copies == std::vector<std::int32_t>{1, 2, 4});

  rows.origins = rows.places;
  rows.select(std::vector<Index>{2, 2, 4, 3, 4});  // places 0 and 2 are free for sentence 0, place 5 for sentence 1
  rows.find_places();
  CHECK(rows.sentences == std::vector<Index>{0, 0, 1, 1, 1});
  CHECK(rows.places == std::vector<std::int32_t>{4, 0, 3, 1, 5});
  CHECK(rows.copies == std::vector<std::int32_t>{1, 4});
}

TEST_CASE("active rows: a sentence with too many rows uses free slots of others") {
  ActiveRows rows(2, 4);
  rows.select(std::vector<Index>{1, 1, 1, 1});
  rows.find_places();
  CHECK(rows.places == std::vector<std::int32_t>{1, 3, 0, 2});
}
