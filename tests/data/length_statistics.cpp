#include "attn/data/parallel_text.hpp"

#include <doctest/doctest.h>

using namespace attn;

TEST_CASE("length statistics: average and shortest and longest") {
  LengthStatistics lengths;
  CHECK(lengths.average() == 0);
  CHECK(lengths.average_rounded_up() == 0);
  CHECK(lengths.shortest() == 0);
  for (const Index length : {5, 2, 9, 5}) lengths.add(length);
  CHECK(lengths.sentences() == 4);
  CHECK(lengths.total() == 21);
  CHECK(lengths.shortest() == 2);
  CHECK(lengths.longest() == 9);
  CHECK(lengths.average() == 5.25);
  CHECK(lengths.average_rounded_up() == 6);
  for (int i = 0; i < 3; ++i) lengths.add(5);
  lengths.add(4);
  CHECK(lengths.average() == 5);
  CHECK(lengths.average_rounded_up() == 5);
}

TEST_CASE("length statistics: empty sentences count as the shortest") {
  LengthStatistics lengths;
  lengths.add(0);
  lengths.add(3);
  CHECK(lengths.shortest() == 0);
  CHECK(lengths.average_rounded_up() == 2);
}

TEST_CASE("length statistics: statistics of two texts add up") {
  LengthStatistics all, first, second;
  first.add(LengthStatistics());
  CHECK(first.sentences() == 0);
  for (const Index length : {5, 7}) first.add(length), all.add(length);
  for (const Index length : {3, 9, 4}) second.add(length), all.add(length);
  LengthStatistics sum;
  sum.add(first);
  CHECK(sum.shortest() == 5);
  sum.add(second);
  sum.add(LengthStatistics());
  CHECK(sum.sentences() == all.sentences());
  CHECK(sum.total() == 28);
  CHECK(sum.shortest() == 3);
  CHECK(sum.longest() == 9);
}
