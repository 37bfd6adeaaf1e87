#include "attn/tape/linear.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("linear: gradients on a tape match finite differences") {
  Device device(2);
  Tensor<Device> x(device, 4, 5, random_numbers(20, 1));
  TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
  const Numbers dy = random_numbers(28, 4);
  const auto loss = [&] {
    Tape tape(device);
    return dot(dy, values(tape, attn::linear(input<5>(tape, x.read()), weight, bias)));
  };
  Tape tape(device, TapeMode::gradients());
  const auto in = input<5>(tape, x.read());
  contribute(tape, attn::linear(in, weight, bias), dy);
  tape.backward();
  check_gradient("x", x, gradient(tape, in), loss);
  check_gradient("weight", weight.numbers, weight.gradients.read(), loss);
  check_gradient("bias", bias.numbers, bias.gradients.read(), loss);
}

TEST_CASE("linear_transposed: gradients match finite differences for the first and later contributions") {
  Device device(2);
  Tensor<Device> x(device, 4, 7, random_numbers(28, 1));
  TestParameter<Device> weight(device, 7, 5, 2);
  const Numbers dy = random_numbers(20, 4), more = random_numbers(28, 5);
  for (const bool twice : {false, true}) {
    CAPTURE(twice);
    weight.gradients.write(Numbers(35, 0));
    const auto loss = [&] {
      Tape tape(device);
      return dot(dy, values(tape, attn::linear_transposed(input<7>(tape, x.read()), weight))) +
             (twice ? dot(more, x.read()) : 0);
    };
    Tape tape(device, TapeMode::gradients());
    const auto in = input<7>(tape, x.read());
    const auto y = attn::linear_transposed(in, weight);
    if (twice) contribute(tape, in, more);
    contribute(tape, y, dy);
    tape.backward();
    check_gradient("x", x, gradient(tape, in), loss);
    check_gradient("weight", weight.numbers, weight.gradients.read(), loss);
  }
}

TEST_CASE("feed_forward: gradients match finite differences with and without dropout") {
  Device device(2);
  for (const TapeMode mode : {TapeMode::gradients(), TapeMode::training(1, 2)}) {
    CAPTURE(mode.dropout);
    TapeMode forward = mode;
    forward.record = false;
    Tensor<Device> x(device, 6, 5, random_numbers(30, 1));
    TestParameter<Device> up(device, 9, 5, 2), up_bias(device, 9, 1, 3), down(device, 5, 9, 4), down_bias(device, 5, 1, 5);
    const Numbers dy = random_numbers(30, 6);
    const auto run = [&](auto in) { return attn::feed_forward(in, up, up_bias, down, down_bias, 0.4f); };
    const auto loss = [&] {
      Tape tape(device, forward);
      return dot(dy, values(tape, run(input<5>(tape, x.read()))));
    };
    Tape tape(device, mode);
    const auto in = input<5>(tape, x.read());
    contribute(tape, run(in), dy);
    tape.backward();
    check_gradient("x", x, gradient(tape, in), loss);
    check_gradient("up", up.numbers, up.gradients.read(), loss);
    check_gradient("up_bias", up_bias.numbers, up_bias.gradients.read(), loss);
    check_gradient("down", down.numbers, down.gradients.read(), loss);
    check_gradient("down_bias", down_bias.numbers, down_bias.gradients.read(), loss);
  }
}

TEST_CASE("linear: a weight used twice gets the sum of its gradients") {
  Device device(1);
  TestParameter<Device> weight(device, 2, 2, 1), bias(device, 2, 1, 2);
  weight.numbers.write({1, 2, 3, 4});
  bias.numbers.write({0, 0});
  Tape tape(device, TapeMode::gradients());
  const auto x = input<2>(tape, {1, 1});
  const auto y = attn::linear(attn::linear(x, weight, bias), weight, bias);
  CHECK(values(tape, y) == Numbers{17, 37});
  contribute(tape, y, {1, 0});
  tape.backward();
  CHECK(weight.gradients.read() == Numbers{3 + 1, 7 + 1, 0 + 2, 0 + 2});
  CHECK(bias.gradients.read() == Numbers{1 + 1, 2});
  CHECK(gradient(tape, x) == Numbers{7, 10});
}
