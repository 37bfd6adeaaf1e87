#include "attn/tape/ragged_product.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("ragged_projection: gradients on a tape match finite differences") {
  Device device(2);
  const Layout<Device> rows(device, {3, 0, 5, 1});
  for (const int blocks : {1, 2}) {
    CAPTURE(blocks);
    Tensor<Device> x(device, 9, 6, random_numbers(54, 1));
    TestParameter<Device> projection(device, 2 * blocks, 5, 2);
    const Numbers dy = random_numbers(4 * 2 * 6, 3);
    Tape tape(device, TapeMode::gradients());
    const auto in = input<6>(tape, x.read());
    const auto y = attn::ragged_projection(in, rows, projection, blocks);
    CHECK(y.rows() == 8);
    contribute(tape, y, dy);
    tape.backward();
    const auto loss = [&] {
      Tape again(device);
      const auto z = attn::ragged_projection(input<6>(again, x.read()), rows, projection, blocks);
      return dot(dy, values(again, z));
    };
    check_gradient("x", x, gradient(tape, in), loss);
    check_gradient("projection", projection.numbers, projection.gradients.read(), loss);
  }
}

TEST_CASE("ragged_projection: the error for a too long sentence names both lengths") {
  Device device(1);
  const Layout<Device> fits(device, {5, 2}), longer(device, {1, 6});
  TestParameter<Device> projection(device, 2, 5, 1);
  Tape tape(device);
  const auto x = input<1>(tape, Numbers(7, 1));
  CHECK(error_of([&] { attn::ragged_projection(x, fits, projection, 1); }) == "");
  const std::string sentence = error_of([&] { attn::ragged_projection(x, longer, projection, 1); });
  CHECK(contains(sentence, "a sentence of 6 tokens"));
  CHECK(contains(sentence, "the projection's n = 5"));
}
