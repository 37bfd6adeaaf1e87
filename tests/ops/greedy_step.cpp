#include "attn/ops/decoding.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "attn/cpu.hpp"

using attn::Cpu, attn::Token;

TEST_CASE("greedy_step: writes tokens until each row ends and advances the counters") {
  Cpu<double> device(1);
  std::vector<Token> words(3), written(9, -1);
  std::vector<std::int32_t> ended(3), counters{10, 20};
  std::int32_t step = 0;
  std::vector<std::int32_t> remaining(3, -1);
  const auto take = [&](std::vector<Token> best) {
    greedy_step(device, {.best = best.data(),
                         .rows = 3,
                         .end = 2,
                         .tokens = words.data(),
                         .ended = ended.data(),
                         .written = written.data(),
                         .step = &step,
                         .remaining = remaining.data(),
                         .counters = counters.data(),
                         .counter_count = 2});
  };
  take({5, 2, 6});
  CHECK(words == std::vector<Token>{5, 2, 6});
  CHECK(ended == std::vector<std::int32_t>{0, 1, 0});
  CHECK(remaining == std::vector<std::int32_t>{2, -1, -1});
  take({7, 8, 2});
  CHECK(words == std::vector<Token>{7, 8, 2});
  take({2, 2, 9});
  CHECK(remaining == std::vector<std::int32_t>{2, 1, 0});
  CHECK(step == 3);
  CHECK(counters == std::vector<std::int32_t>{13, 23});
  CHECK(written == std::vector<Token>{5, 2, 6, 7, -1, 2, 2, -1, -1});
}

TEST_CASE("greedy_step: accepts no rows") {
  Cpu<float> device(1);
  std::int32_t step = 1, remaining[2] = {7, 7};
  greedy_step(device, {.best = nullptr,
                       .rows = 0,
                       .end = 2,
                       .tokens = nullptr,
                       .ended = nullptr,
                       .written = nullptr,
                       .step = &step,
                       .remaining = remaining,
                       .counters = nullptr,
                       .counter_count = 0});
  CHECK(step == 2);
  CHECK(remaining[0] == 7);
  CHECK(remaining[1] == 0);
}
