// mpirun -n N ranks: each rank runs all cases, in the same order.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <iostream>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attn/parallel/communicator.hpp"
#include "attn/parallel/join_ranks.hpp"
#include "parallel/parallel_training.hpp"
#include "support/errors.hpp"

using namespace parallel_training;

namespace {

Communicator* mpi = nullptr;

/// A training with 10 steps in which the last rank calls `sleep` in step 6, between the sums and the update, and `pause` once
/// between two steps.
template <class Sleep, class Pause>
Index steps_with(const Sleep& sleep, const Pause& pause) {
  const bool last = mpi->rank() == mpi->ranks() - 1;
  bool paused = !last;
  Run run(*mpi, 1);
  const auto rate = [&](Index step) {
    if (last && step == 6) sleep();
    return 1e-3;
  };
  Trainer trainer(run.network, run.adam, rate, {.epochs = 100, .steps = 10, .report_every = 100}, &run.ranks);
  OnStep report([&](const StepReport&) {
    if (!std::exchange(paused, true)) pause();
  });
  trainer.run(run.training, {&report});
  return trainer.state.step;
}

void sleep_for_seconds(int seconds) { std::this_thread::sleep_for(std::chrono::seconds(seconds)); }

}  // namespace

// file_ranks.py runs these two, with a limit of three seconds.
TEST_CASE("a rank sleeps in a step" * doctest::skip()) {
  steps_with([] { sleep_for_seconds(60); }, [] {});
  FAIL("nobody noticed");
}

TEST_CASE("a rank pauses between two steps" * doctest::skip()) {
  CHECK(steps_with([] {}, [] { sleep_for_seconds(6); }) == 10);
}

TEST_CASE("ranks: every rank knows its number and its machine") {
  CHECK(mpi->rank() >= 0);
  CHECK(mpi->rank() < mpi->ranks());
  CHECK(mpi->ranks_on_host() == mpi->ranks());
  CHECK(mpi->rank_on_host() == mpi->rank());
  CHECK_FALSE(mpi->host(mpi->ranks() - 1).empty());
}

TEST_CASE("ranks: values are summed at all ranks or at one and broadcast") {
  const Index n = mpi->ranks();
  std::vector<float> floats{static_cast<float>(mpi->rank() + 1), 2};
  std::vector<double> doubles{0.5, static_cast<double>(mpi->rank())};
  mpi->begin_sum({floats.data(), 2});
  mpi->begin_sum({doubles.data(), 2});
  mpi->wait();
  CHECK(floats == std::vector<float>{static_cast<float>(n * (n + 1) / 2), static_cast<float>(2 * n)});
  CHECK(doubles == std::vector<double>{0.5 * static_cast<double>(n), static_cast<double>(n * (n - 1) / 2)});

  std::vector<double> at_last{1, static_cast<double>(mpi->rank())};
  mpi->begin_sum_at(n - 1, {at_last.data(), 2});
  mpi->wait();
  if (mpi->rank() == n - 1)
    CHECK(at_last == std::vector<double>{static_cast<double>(n), static_cast<double>(n * (n - 1) / 2)});

  std::vector<float> handed_on{static_cast<float>(mpi->rank())};
  mpi->begin_broadcast(n - 1, {handed_on.data(), 1});
  mpi->wait();
  CHECK(handed_on[0] == static_cast<float>(n - 1));
  CHECK_NOTHROW(mpi->begin_sum({floats.data(), 0}));
  mpi->wait();
}

TEST_CASE("ranks: sums longer than MPI allows in one call are complete") {
  std::vector<float> numbers((std::size_t{1} << 24) + 3, 1);
  mpi->begin_sum({numbers.data(), std::ssize(numbers)});
  mpi->wait();
  CHECK(std::ranges::all_of(numbers, [](float number) { return number == static_cast<float>(mpi->ranks()); }));
}

TEST_CASE("ranks: texts of any length are gathered in rank order") {
  const std::string mine = mpi->rank() == 0 ? "" : std::string(static_cast<std::size_t>(mpi->rank()), '\0') + "ä";
  const std::vector<std::string> all = mpi->gather(mine);
  REQUIRE(std::ssize(all) == mpi->ranks());
  CHECK(all[0].empty());
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i] == std::string(i, '\0') + "ä");
}

TEST_CASE("ranks: any is true at all ranks if it is true at one") {
  CHECK(mpi->any(mpi->rank() == mpi->ranks() - 1));
  CHECK_FALSE(mpi->any(false));
}

TEST_CASE("ranks: match one process that accumulates their batches") {
  for (const bool shard : {false, true})
    for (const Index pairs : {75, 9}) {
      CAPTURE(shard);
      CAPTURE(pairs);
      Run alone(mpi->ranks(), pairs);
      const Result one = train(alone);
      Run run(*mpi, 1, shard, pairs);
      const Result mine = train(run);
      CHECK(largest_difference(mine.numbers, one.numbers) < 1e-12);
      Run again(*mpi, 1, shard, pairs);
      CHECK(train(again).numbers == mine.numbers);  // bits
      double first = mine.numbers[0];
      mpi->begin_broadcast(0, {&first, 1});
      mpi->wait();
      CHECK(first == mine.numbers[0]);
    }
}

TEST_CASE("ranks: differing ranks are named") {
  const std::string seed = mpi->rank() == 1 ? "7" : "1";
  const std::string error = error_of([&] { require_same_everywhere(*mpi, {{"seed", seed}}); });
  CHECK(contains(error, "rank 1 on "));
  CHECK(contains(error, " has seed 7, rank 0 on "));
}

int main(int count, char** words) {
  const auto ranks = join_ranks();
  mpi = ranks.get();
  if (mpi->ranks() < 2) {
    std::cerr << "ranks: start it with mpirun -n 2 or more\n";
    return 1;
  }
  doctest::Context context(count, words);
  if (!mpi->leads()) context.setOption("minimal", true);
  return context.run();
}
