#include "attn/tape/tanh.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("tanh on the tape: values, and gradients that are those of differences and add up") {
  Device device(2);
  Tensor<Device> x(device, 3, 5, random_numbers(15, 1, 2));
  const Numbers dy = random_numbers(15, 2);
  Tape tape(device, attn::TapeMode::gradients());
  const auto in = input<5>(tape, x.read());
  const auto y = attn::tanh(tape, in);
  CHECK(values(tape, y)[4] == doctest::Approx(std::tanh(x.read()[4])).epsilon(1e-14));
  contribute(tape, y, dy);
  contribute(tape, in, Numbers(15, 0));  // somebody else was there before
  tape.backward();
  check_gradient("x", x, gradient(tape, in), [&] {
    Tape again(device);
    return dot(dy, values(again, attn::tanh(again, input<5>(again, x.read()))));
  });
}
