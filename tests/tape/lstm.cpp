#include "attn/tape/lstm.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"
#include "support/time_major.hpp"

using attn::Index;
using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

namespace {

constexpr int kIn = 3, kWidth = 5;
constexpr Index kSentences = 4, kRows = 8;
const std::vector<std::int32_t> offsets{0, 3, 3, 7, 8};  // of 3, 0, 4 and 1 rows

attn::LstmResult<Device> results(Tape& tape, const attn::TimeMajor& layout) {
  const auto y = attn::make_lstm_result(tape, layout, attn::Size<kWidth>(), tape.make(0, kWidth));
  return {y.h, {y.last.h, y.last.c}};
}

/// A layer with initial states, and what its loss depends on.
struct Case {
  Device device{2};
  TestParameter<Device> input_weight{device, 4 * kWidth, kIn, 1}, recurrent{device, 4 * kWidth, kWidth, 2},
      bias{device, 4 * kWidth, 1, 3};
  Tensor<Device> x{device, kRows, kIn, random_numbers(kRows* kIn, 4)};
  Tensor<Device> h0{device, kSentences, kWidth, random_numbers(kSentences* kWidth, 5)};
  Tensor<Device> c0{device, kSentences, kWidth, random_numbers(kSentences* kWidth, 6)};
  Numbers dh = random_numbers(kRows * kWidth, 7), dlast_h = random_numbers(kSentences * kWidth, 8),
          dlast_c = random_numbers(kSentences * kWidth, 9);
  bool states = true, reverse = false;
  int used = 7;  // 1: h, 2: the last h, 4: the last c

  struct Run {
    attn::Variable<Device, kIn> x;
    attn::LstmState<Device> initial;
    attn::LstmResult<Device> y;
  };

  Run run(Tape& tape) {
    Run run;
    run.x = input<kIn>(tape, x.read());
    if (states) run.initial = {input<kWidth>(tape, h0.read()), input<kWidth>(tape, c0.read())};
    const auto layout = attn::time_major(tape, attn::upload_offsets(tape, offsets.data(), kSentences), offsets.data());
    run.y = results(tape, layout);
    attn::lstm(run.x, layout,
               std::array{attn::LstmDirection<Device>{{input_weight, recurrent, bias}, run.initial, run.y, reverse}});
    return run;
  }
  double loss() {
    Tape tape(device);
    const Run forward = run(tape);
    double sum = 0;
    if (used & 1) sum += dot(dh, values(tape, forward.y.h));
    if (used & 2) sum += dot(dlast_h, values(tape, forward.y.last.h));
    if (used & 4) sum += dot(dlast_c, values(tape, forward.y.last.c));
    return sum;
  }
  void check() {
    for (auto* parameter : {&input_weight, &recurrent, &bias})
      parameter->gradients.write(Numbers(static_cast<std::size_t>(parameter->size()), 0));
    Tape tape(device, TapeMode::gradients());
    const Run forward = run(tape);
    if (used & 1) contribute(tape, forward.y.h, dh);
    if (used & 2) contribute(tape, forward.y.last.h, dlast_h);
    if (used & 4) contribute(tape, forward.y.last.c, dlast_c);
    tape.backward();
    const auto at = [&] { return loss(); };
    check_gradient("x", x, gradient(tape, forward.x), at);
    check_gradient("input weights", input_weight.numbers, input_weight.gradients.read(), at);
    check_gradient("recurrent weights", recurrent.numbers, recurrent.gradients.read(), at);
    check_gradient("bias", bias.numbers, bias.gradients.read(), at);
    if (!states) return;
    check_gradient("h0", h0, gradient(tape, forward.initial.h), at);
    check_gradient("c0", c0, gradient(tape, forward.initial.c), at);
  }
};

}  // namespace

TEST_CASE("lstm: gradients on a tape match finite differences for any used results") {
  for (const bool states : {false, true})
    for (const bool reverse : {false, true})
      for (int used = 1; used < 8; ++used) {
        CAPTURE(states);
        CAPTURE(reverse);
        CAPTURE(used);
        Case all;
        all.states = states;
        all.reverse = reverse;
        all.used = used;
        all.check();
      }
}

TEST_CASE("time_major: sorts sentences by decreasing length and keeps ties in order") {
  Device device(1);
  Tape tape(device);
  const attn::Sentences sentences{{1, 2}, {}, {3, 4, 5}, {6, 7}, {8}};
  const attn::TimeMajor layout = attn::time_major(tape, sentences);
  CHECK(std::vector<std::int32_t>(layout.order, layout.order + 5) == std::vector<std::int32_t>{2, 0, 3, 4, 1});
  CHECK(layout.rows.count == 5);
  CHECK(layout.rows.rows == 8);
  CHECK(layout.rows.longest == 3);
  const attn::TimeMajor step = attn::one_step(tape, 3);
  CHECK(std::vector<std::int32_t>(step.order, step.order + 3) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(std::vector<std::int32_t>(step.rows.end, step.rows.end + 3) == std::vector<std::int32_t>{1, 2, 3});
  CHECK(step.rows.longest == 1);
}

TEST_CASE("lstm: the error for mismatched rows of input or states names both numbers") {
  Device device(1);
  Case all;
  Tape tape(device);
  const attn::LstmWeights<Device> weights{all.input_weight, all.recurrent, all.bias};
  const auto layout = attn::one_step(tape, 2);
  const auto y = results(tape, layout);
  using Direction = attn::LstmDirection<Device>;
  const attn::LstmState<Device> three{tape.make(3, kWidth), tape.make(3, kWidth)};
  CHECK(contains(error_of([&] {
                   attn::lstm(tape.make(5, kIn), layout, std::array{Direction{weights, {}, y}});
                 }),
                 "an input of 5 rows for sentences of 2"));
  CHECK(contains(error_of([&] {
                   attn::lstm(tape.make(2, kIn), layout, std::array{Direction{weights, three, y}});
                 }),
                 "states of 3 (h) and 3 (c) sentences for a batch of 2"));
}

TEST_CASE("lstm: two concurrent LSTMs cannot share a trainable initial state") {
  Case all;
  Tape tape(all.device, TapeMode::gradients());
  const auto layout = attn::one_step(tape, 2);
  using Direction = attn::LstmDirection<Device>;
  const attn::LstmWeights<Device> weights{all.input_weight, all.recurrent, all.bias};
  const attn::LstmState<Device> state{tape.make(2, kWidth), tape.make(2, kWidth)};
  const Direction directions[]{{weights, state, results(tape, layout)},
                               {weights, {{}, state.c}, results(tape, layout), true}};
  CHECK(contains(error_of([&] {
                   attn::lstm(tape.make(2, kIn), layout, std::array{directions[0], directions[1]});
                 }),
                 "cannot share an initial state"));
}

TEST_CASE("lstm: several LSTMs over the same sentences give the results and gradients of each alone") {
  Case all;
  const attn::LstmWeights<Device> weights{all.input_weight, all.recurrent, all.bias};
  const auto numbers = [&](bool together) {
    for (auto* parameter : {&all.input_weight, &all.recurrent, &all.bias})
      parameter->gradients.write(Numbers(static_cast<std::size_t>(parameter->size()), 0));
    Tape tape(all.device, TapeMode::gradients());
    const auto x = input<kIn>(tape, all.x.read());
    const auto layout = attn::time_major(tape, attn::upload_offsets(tape, offsets.data(), kSentences), offsets.data());
    std::array<attn::LstmDirection<Device>, 2> directions;
    for (std::size_t i = 0; i < 2; ++i)
      directions[i] = {
          weights, {input<kWidth>(tape, all.h0.read()), input<kWidth>(tape, all.c0.read())}, results(tape, layout), i == 1};
    if (together) {
      attn::lstm(x, layout, directions);
    } else {
      for (const auto& direction : directions) attn::lstm(x, layout, std::array{direction});
    }
    std::vector<Numbers> found;
    for (const auto& direction : directions) {
      found.push_back(values(tape, direction.y.h));
      found.push_back(values(tape, direction.y.last.c));
      contribute(tape, direction.y.h, all.dh);
    }
    tape.backward();
    found.push_back(gradient(tape, x));
    for (const auto& direction : directions) found.push_back(gradient(tape, direction.initial.h));
    for (auto* parameter : {&all.input_weight, &all.recurrent, &all.bias}) found.push_back(parameter->gradients.read());
    return found;
  };
  const std::vector<Numbers> together = numbers(true);
  CHECK(together == numbers(false));
  CHECK(together[0] != together[2]);  // each in its direction
}
