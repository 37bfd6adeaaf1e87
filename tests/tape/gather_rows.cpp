#include "attn/tape/gather_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("gather_rows: the gradient matches finite differences for repeated rows too") {
  Device device(1);
  Tensor<Device> x(device, 4, 3, random_numbers(12, 1));
  const Integers<Device> first(device, {2, 0}), second(device, {0, 3, 1});
  const Numbers dfirst = random_numbers(6, 2), dsecond = random_numbers(9, 3);
  const auto loss = [&] {
    Tape tape(device);
    const auto in = input<3>(tape, x.read());
    return dot(dfirst, values(tape, gather_rows(in, first.data(), 2))) +
           dot(dsecond, values(tape, gather_rows(in, second.data(), 3)));
  };
  Tape tape(device, TapeMode::gradients());
  const auto in = input<3>(tape, x.read());
  contribute(tape, gather_rows(in, first.data(), 2), dfirst);
  contribute(tape, gather_rows(in, second.data(), 3), dsecond);
  tape.backward();
  check_gradient("x", x, gradient(tape, in), loss);
}

TEST_CASE("gather_rows: out-of-range and repeated host indices are errors") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<3>(tape, {1, 2, 3, 4, 5, 6});
  const attn::Variable<Device> y = gather_rows(x, {1, 0});
  CHECK(values(tape, y) == Numbers{4, 5, 6, 1, 2, 3});
  contribute(tape, y, {1, 2, 3, 4, 5, 6});
  tape.backward();
  CHECK(gradient(tape, x) == Numbers{4, 5, 6, 1, 2, 3});
  CHECK(values(tape, gather_rows(x, std::vector<attn::Index>{})).empty());
  const auto error = [&](std::vector<attn::Index> rows) { return error_of([&] { gather_rows(x, rows); }); };
  CHECK(error({0, 2}) == "gather_rows: row 2 is out of range: there are 2 rows");
  CHECK(error({-1}) == "gather_rows: row -1 is out of range: there are 2 rows");
  CHECK(error({1, 0, 1}) == "gather_rows: row 1 is selected twice; its gradients would not be added up");
}
