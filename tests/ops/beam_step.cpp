#include "attn/ops/decoding.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "attn/cpu.hpp"
#include "support/errors.hpp"

using attn::Cpu, attn::Index, attn::Token;

namespace {

constexpr double kNone = -HUGE_VAL;

/// Beams of some sentences, whose positions so far are numbered one by one.
struct Beams {
  Cpu<double> device{1};
  Index beam, k, rows, capacity;
  std::vector<Token> words, logged;
  std::vector<double> totals, logged_probabilities;
  std::vector<std::int32_t> step, table, newest, ends, positions;

  Beams(Index sentences, Index width, Index choices, Index filled, Index room, Index steps)
      : beam(width), k(choices), rows(sentences * width), capacity(room) {
    const auto count = static_cast<std::size_t>(rows);
    words.assign(count, 99), totals.assign(count, 0);
    logged.assign(static_cast<std::size_t>(steps * rows * k), -7);
    logged_probabilities.assign(logged.size(), 7);
    step.assign(static_cast<std::size_t>(sentences), 0);
    table.assign(static_cast<std::size_t>(rows * capacity), -1);
    for (Index i = 0; i < rows; ++i) {
      for (Index t = 0; t < filled; ++t)
        table[static_cast<std::size_t>(i * capacity + t)] = static_cast<std::int32_t>(100 * i + t);
      newest.push_back(static_cast<std::int32_t>(100 * i + filled - 1));
      ends.push_back(static_cast<std::int32_t>(i * capacity + filled));
      positions.push_back(static_cast<std::int32_t>(filled - 1));
    }
  }

  void take(const std::vector<Token>& best, const std::vector<double>& log_probabilities) {
    beam_step(device, {.best = {best.data(), rows, k},
                       .log_probabilities = {log_probabilities.data(), rows, k},
                       .beam = beam,
                       .end = 2,
                       .tokens = words.data(),
                       .totals = totals.data(),
                       .step = step.data(),
                       .logged = logged.data(),
                       .logged_probabilities = logged_probabilities.data(),
                       .table = {table.data(), rows, capacity},
                       .newest = newest.data(),
                       .ends = ends.data(),
                       .positions = positions.data()});
  }
};

}  // namespace

TEST_CASE("beam_step: selects the best continuations and lists their histories") {
  Beams beams(2, 2, 3, 2, 4, 2);
  beams.totals = {-1, -2, -1, kNone};  // the second sentence has one hypothesis
  const std::vector<Token> best{5, 2, 6, 7, 8, 9, 2, 4, 3, 11, 12, 13};
  const std::vector<double> logs{-3, -3.5, -4, -0.5, -1, -4, -0.25, -0.5, -0.75, -0.125, -0.25, -0.5};
  beams.take(best, logs);
  CHECK(beams.words == std::vector<Token>{7, 8, 4, 3});
  CHECK(beams.totals == std::vector<double>{-2.5, -3, -1.5, -1.75});
  CHECK(beams.table == std::vector<std::int32_t>{100, 101, 2, -1,    // row 0 continues row 1
                                                 100, 101, 102, -1,  // so does row 1
                                                 200, 201, 202, -1,  //
                                                 200, 201, 302, -1});
  CHECK(beams.newest == std::vector<std::int32_t>{2, 102, 202, 302});
  CHECK(beams.ends == std::vector<std::int32_t>{3, 7, 11, 15});
  CHECK(beams.positions == std::vector<std::int32_t>{2, 2, 2, 2});
  CHECK(beams.step == std::vector<std::int32_t>{1, 1});
  CHECK(std::vector<Token>(beams.logged.begin(), beams.logged.begin() + 12) == best);
  CHECK(beams.logged[12] == -7);

  // Now the rows cross.
  beams.take({5, 4, 3, 6, 4, 3, 5, 4, 3, 6, 4, 3}, {-2, -9, -9, -1, -9, -9, -1, -9, -9, -2, -9, -9});
  CHECK(beams.words == std::vector<Token>{6, 5, 5, 6});
  CHECK(beams.totals == std::vector<double>{-4, -4.5, -2.5, -3.75});
  CHECK(beams.table == std::vector<std::int32_t>{100, 101, 102, 3,    //
                                                 100, 101, 2, 103,    //
                                                 200, 201, 202, 203,  //
                                                 200, 201, 302, 303});
  CHECK(beams.step == std::vector<std::int32_t>{2, 2});
  CHECK(beams.logged[12] == 5);
  CHECK(beams.logged_probabilities[12] == -2);
}

TEST_CASE("beam_step: ties go to the lower row and then to the earlier choice") {
  Beams beams(1, 3, 4, 1, 2, 1);
  beams.totals = {-2, -1, -3};
  beams.take({9, 8, 7, 6, 5, 4, 3, 1, 10, 11, 12, 13}, {-1, -1, -2, -2, -2, -2, -3, -3, 0, 0, 0, 0});
  CHECK(beams.words == std::vector<Token>{9, 8, 5});
  CHECK(beams.totals == std::vector<double>{-3, -3, -3});
}

TEST_CASE("beam_step: rows without a hypothesis continue themselves") {
  Beams beams(2, 3, 3, 2, 2, 1);  // no room for another position
  beams.totals = {-1, kNone, kNone, -1, -2, -3};
  beams.take({2, 5, -1, 6, 7, 8, 6, 7, 8, /**/ 2, 6, 7, -1, -1, -1, 2, -1, -1},
             {-1, -2, kNone, -1, -1, -1, -1, -1, -1, /**/ 0, kNone, kNone, kNone, kNone, kNone, 0, kNone, kNone});
  CHECK(beams.words == std::vector<Token>{5, 0, 0, 0, 0, 0});
  CHECK(beams.totals == std::vector<double>{-3, kNone, kNone, kNone, kNone, kNone});
  CHECK(beams.table == std::vector<std::int32_t>{0, 1, 100, 101, 200, 201, 300, 301, 400, 401, 500, 501});
  CHECK(beams.newest[1] == 102);
  CHECK(beams.ends == std::vector<std::int32_t>{3, 5, 7, 9, 11, 13});
}

TEST_CASE("beam_step: accepts a beam of one and an empty batch") {
  Beams one(2, 1, 2, 1, 3, 1);
  one.take({4, 2, 2, 5}, {-1, -2, -1, -2});
  CHECK(one.words == std::vector<Token>{4, 5});
  CHECK(one.totals == std::vector<double>{-1, -2});
  CHECK(one.table == std::vector<std::int32_t>{0, 1, -1, 100, 101, -1});
  Beams none(0, 4, 5, 1, 1, 1);
  none.take({}, {});
  CHECK(none.words.empty());
}

TEST_CASE("beam_step: rejects too wide beams") {
  Beams beams(1, 17, 2, 1, 2, 1);
  CHECK(contains(error_of([&] { beams.take(std::vector<Token>(34), std::vector<double>(34)); }),
                 "A beam needs 1 to 16 rows"));
  Beams choices(1, 2, 4, 1, 2, 1);
  CHECK(contains(error_of([&] { choices.take(std::vector<Token>(8), std::vector<double>(8)); }),
                 "at most one choice more than that"));
}
