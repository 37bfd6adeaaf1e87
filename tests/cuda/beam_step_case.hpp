#pragma once
#include "attn/ops/decoding.hpp"
#include "cuda/guarded.hpp"

/// sentences, beam, steps; words: of the vocabulary, whose 0 ends; values: different log-probabilities, some of them
/// impossible; filled: positions before the first step. At first every sentence has one hypothesis.
template <class Device>
Results beam_step_case(Device& device, const OpCase& test, Precision) {
  using attn::Index;
  const Index beam = test.size("beam"), rows = test.size("sentences") * beam, k = beam + 1, steps = test.size("steps"),
              filled = test.size("filled", 1), capacity = filled + steps - 1;
  std::vector<std::int32_t> table(static_cast<std::size_t>(rows * capacity)), newest, ends, positions;
  Numbers first;
  for (Index i = 0; i < rows; ++i) {
    for (Index t = 0; t < filled; ++t)
      table[static_cast<std::size_t>(i * capacity + t)] = static_cast<std::int32_t>(i * capacity + t);
    newest.push_back(static_cast<std::int32_t>(i * capacity + filled - 1));
    ends.push_back(static_cast<std::int32_t>(i * capacity + filled));
    positions.push_back(static_cast<std::int32_t>(filled - 1));
    first.push_back(i % beam == 0 ? 0 : -HUGE_VAL);
  }
  const auto zeros = [&](Index count) {
    return Integers<Device>(device, std::vector<std::int32_t>(static_cast<std::size_t>(count)));
  };
  const Integers<Device> words = zeros(rows), step = zeros(rows / beam), logged = zeros(steps * rows * k),
                         listed(device, table), newest_on(device, newest), ends_on(device, ends),
                         positions_on(device, positions);
  const Guarded<Device, double> totals(device, 1, rows, first);
  const Reals<Device> logged_probabilities(device, steps * rows, k);
  for (Index s = 0; s < steps; ++s) {
    std::vector<std::int32_t> choices =
        whole_numbers(rows * k, static_cast<std::uint64_t>(3 * s + 1), test.size("words", 1) + 1);
    for (std::int32_t& choice : choices) --choice;  // -1: none
    const Integers<Device> best(device, choices);
    Numbers probabilities;
    for (const std::int32_t value : whole_numbers(rows * k, static_cast<std::uint64_t>(3 * s + 2), test.size("values", 9)))
      probabilities.push_back(value == 7 ? -HUGE_VAL : -0.25 * (value + 1));
    const Reals<Device> log_probabilities(device, rows, k, probabilities);
    beam_step(device, {.best = attn::Matrix<const attn::Token>(best.data(), rows, k),
                       .log_probabilities = log_probabilities,
                       .beam = beam,
                       .end = 0,
                       .tokens = words.data(),
                       .totals = totals.data(),
                       .step = step.data(),
                       .logged = logged.data(),
                       .logged_probabilities = logged_probabilities.data(),
                       .table = attn::Matrix<std::int32_t>(listed.data(), rows, capacity),
                       .newest = newest_on.data(),
                       .ends = ends_on.data(),
                       .positions = positions_on.data()});
  }
  Results results{
      {.name = "totals", .numbers = totals.read("totals"), .exact = true},
      {.name = "logged probabilities", .numbers = logged_probabilities.read("logged probabilities"), .exact = true}};
  const std::pair<const char*, const Integers<Device>*> all[] = {
      {"words", &words},      {"step", &step},    {"logged", &logged},         {"table", &listed},
      {"newest", &newest_on}, {"ends", &ends_on}, {"positions", &positions_on}};
  for (const auto& [name, integers] : all) {
    const auto numbers = integers->read();
    results.push_back({.name = name, .numbers = Numbers(numbers.begin(), numbers.end()), .exact = true});
  }
  return results;
}
