#include "attn/tape/columns.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/tape.hpp"

using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("cut gives slices of the widths asked for, and their gradients are slices of one") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  const auto x = input<5>(tape, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const auto [a, b, c] = attn::cut<2, 1, 2>(tape, x);
  CHECK(values(tape, a) == Numbers{1, 2, 6, 7});
  CHECK(values(tape, b) == Numbers{3, 8});
  CHECK(values(tape, c) == Numbers{4, 5, 9, 10});
  contribute(tape, c, {1, 2, 3, 4});
  contribute(tape, a, {5, 6, 7, 8});
  CHECK(gradient(tape, x) == Numbers{5, 6, 0, 1, 2, 7, 8, 0, 3, 4});  // nothing depends on b
  CHECK(contains(error_of([&] { attn::cut<2, 3>(tape, x); }), "cut into slices already"));
}

TEST_CASE("join puts activations side by side, and each gets its columns of the gradient") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  const auto a = input<2>(tape, {1, 2, 3, 4});
  const auto b = input<1>(tape, {5, 6});
  const auto y = attn::join(tape, a, b, a);
  CHECK(values(tape, y) == Numbers{1, 2, 5, 1, 2, 3, 4, 6, 3, 4});
  contribute(tape, y, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  tape.backward();
  CHECK(gradient(tape, a) == Numbers{1 + 4, 2 + 5, 6 + 9, 7 + 10});
  CHECK(gradient(tape, b) == Numbers{3, 8});
  const auto shorter = input<1>(tape, {1});
  CHECK(contains(error_of([&] { attn::join(tape, a, shorter); }), "different numbers of rows"));
}
