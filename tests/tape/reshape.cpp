#include "attn/tape/reshape.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/columns.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

/// Checks the gradient of y = function(x), x of 4 x 6, as the first contribution to the gradient of x and as a later one.
template <class Function>
void check(const char* name, const Function& function) {
  for (const bool later : {false, true}) {
    CAPTURE(name);
    CAPTURE(later);
    Device device(2);
    Tensor<Device> x(device, 4, 6, random_numbers(24, 1));
    const Numbers more = later ? random_numbers(24, 3) : Numbers(24, 0);
    Tape tape(device, attn::TapeMode::gradients());
    const Variable in = input<6>(tape, x.read());
    const Variable y = function(in);
    const Numbers dy = random_numbers(y.rows() * y.cols(), 2);
    contribute(tape, y, dy);
    if (later) contribute(tape, in, more);
    tape.backward();
    check_gradient("x", x, gradient(tape, in), [&] {
      Tape again(device);
      const Variable z = function(input<6>(again, x.read()));
      return dot(dy, values(again, z)) + dot(more, x.read());
    });
  }
}

}  // namespace

TEST_CASE("reshape: keeps the order of the values and copies only slices") {
  Device device(1);
  Tape tape(device);
  const Variable x = input<3>(tape, {1, 2, 3, 4, 5, 6});
  const Variable y = reshape(x, 3, 2);
  CHECK(y.rows() == 3);
  CHECK(y.cols() == 2);
  CHECK(y.value.data == x.value.data);
  CHECK(values(tape, y) == Numbers{1, 2, 3, 4, 5, 6});
  const Variable part = attn::slice(x, 1, 2), column = reshape(part, 4, 1);
  CHECK(column.value.data != part.value.data);
  CHECK(values(tape, column) == Numbers{2, 3, 5, 6});
}

TEST_CASE("reshape: gradients match finite differences and accumulate for slices too") {
  check("taller", [](Variable x) { return Variable(square(reshape(x, 12, 2))); });
  check("wider, and back", [](Variable x) { return Variable(reshape(Variable(tanh(reshape(x, 1, 24))), 4, 6) * x); });
  check("of a slice", [](Variable x) { return Variable(exp(reshape(attn::slice(x, 2, 3), 6, 2))); });
  check("of a slice beside others", [](Variable x) {
    const auto [a, b] = attn::split<2>(x);
    return Variable(reshape(a, 12, 1) * reshape(b, 12, 1));
  });
  check("a slice of it", [](Variable x) { return Variable(square(attn::slice(reshape(x, 3, 8), 3, 4))); });
  check("twice", [](Variable x) { return Variable(reshape(x, 8, 3) * reshape(x, 8, 3)); });
}

TEST_CASE("reshape: an activation without gradient has none and no rows stay empty") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  Tensor<Device> numbers(device, 2, 3, random_numbers(6, 1));
  CHECK(reshape(tape.constant(numbers), 6, 1).slot == nullptr);
  const Variable none = reshape(Variable(input<4>(tape, {})), 0, 2);
  CHECK(none.rows() == 0);
  CHECK(none.cols() == 2);
}

TEST_CASE("reshape: the error for a different number of elements names both shapes") {
  Device device(1);
  Tape tape(device);
  const Variable x = input<3>(tape, {1, 2, 3, 4, 5, 6});
  CHECK(contains(error_of([&] { reshape(x, 2, 2); }), "2 x 3 cannot become 2 x 2"));
}
