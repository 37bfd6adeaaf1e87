#include "common/parallel_progress.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <thread>
#include <vector>

using namespace attn;

TEST_CASE("parallel progress: a terminal shows one line for all runs below their messages") {
  std::ostringstream out;
  ParallelProgress progress(out, true);
  progress.expect(2);
  {
    RunProgress first(progress, "first", 0, 100), second(progress, "second", 50, 100);
    std::this_thread::sleep_for(std::chrono::milliseconds(120));  // it redraws ten times a second
    second.on_step({.step = 75, .loss = 2.5, .tokens = 10, .tokens_per_second = 1000});
    CHECK(out.str().find("0 of 2 runs done, 1,000 tok/s") != std::string::npos);
    CHECK(out.str().find("first 0 % loss 0.000, second 75 % loss 2.500") != std::string::npos);
    first.on_validation({.step = 10, .loss = 1, .best = true});
    CHECK(out.str().find("first, step 10: validation loss 1.000, perplexity 2.72, the best so far\n") != std::string::npos);
  }
  RunProgress third(progress, "third", 0, 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  third.on_step({.step = 1, .loss = 1, .tokens_per_second = 1});
  CHECK(out.str().find("2 of 2 runs done") != std::string::npos);
}

TEST_CASE("parallel progress: is silent elsewhere and threads do not mix lines") {
  std::ostringstream out;
  ParallelProgress progress(out, false);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        RunProgress run(progress, "run " + std::to_string(i), 0, 50);
        for (Index step = 1; step <= 50; ++step) run.on_step({.step = step, .loss = 1});
        run.on_validation({.step = 50, .loss = 0});
      });
  }
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    CHECK(line.ends_with(", step 50: validation loss 0.000, perplexity 1.00"));
  CHECK(count == 4);
}
