#include "attn/tape/arithmetic.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/columns.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;
using Column = attn::Variable<Device, 1>;

namespace {

/// Checks the gradient of y = function(x), x of 3 x 5, as the first contribution to the gradient of x and as a later one.
template <class Function>
void check(const std::string& name, const Function& function) {
  for (const bool later : {false, true}) {
    CAPTURE(name);
    CAPTURE(later);
    Device device(2);
    Tensor<Device> x(device, 3, 5, random_numbers(15, 1, 2));
    const Numbers more = later ? random_numbers(15, 3) : Numbers(15, 0);
    Tape tape(device, attn::TapeMode::gradients());
    const auto in = input<5>(tape, x.read());
    const Variable y = function(in);
    const Numbers dy = random_numbers(y.rows() * y.cols(), 2);
    contribute(tape, y, dy);
    if (later) contribute(tape, in, more);
    tape.backward();
    check_gradient("x", x, gradient(tape, in), [&] {
      Tape again(device);
      const Variable z = function(input<5>(again, x.read()));
      return dot(dy, values(again, z)) + dot(more, x.read());
    });
  }
}

}  // namespace

TEST_CASE("tape arithmetic: gradients match finite differences and accumulate") {
  check("relu", [](auto x) { return relu(x); });
  check("gelu", [](auto x) { return gelu(x); });
  check("gelu_exact", [](auto x) { return gelu_exact(x); });
  check("silu", [](auto x) { return silu(x); });
  check("tanh", [](auto x) { return tanh(x); });
  check("sigmoid", [](auto x) { return x * sigmoid(0.5 * x - 1); });
  check("division", [](auto x) { return x / (1 + square(x)); });
  check("where", [](auto x) { return where(x > 0, exp(x), 0.1 * x); });
}

TEST_CASE("tape arithmetic: a column slice of the other operand gets both gradients") {
  check("first column", [](auto x) { return attn::slice<0, 1>(x) * x; });
  check("first column, as the second operand", [](auto x) { return x * attn::slice<0, 1>(x); });
  check("third column", [](auto x) { return attn::slice<2, 1>(x) * x; });
  check("third column, as the second operand", [](auto x) { return x * attn::slice<2, 1>(x); });
}

TEST_CASE("tape arithmetic: tanh matches the standard library and a vector is added to every row") {
  Device device(1);
  TestParameter<Device> vector(device, 5, 1, 4);
  Tape tape(device, attn::TapeMode::gradients());
  const auto x = input<5>(tape, random_numbers(15, 1));
  const attn::Parameter<Device>& learned = vector;
  const Variable y = tanh(x) + learned;
  for (attn::Index i = 0; i < 3; ++i)
    CHECK(y.value(i, 4) == doctest::Approx(std::tanh(x.value(i, 4)) + vector.numbers.read()[4]).epsilon(1e-14));
  contribute(tape, y, Numbers(15, 2));
  tape.backward();
  CHECK(vector.gradients.read() == Numbers(5, 6));
  vector.frozen = true;
  CHECK(Variable(tape.constant(x.value) + learned).slot == nullptr);
}

TEST_CASE("tape arithmetic: the error for different shapes names both") {
  Device device(1);
  Tape tape(device);
  const Variable a = tape.make(2, 3), b = tape.make(2, 4), c = tape.make(3, 3);
  CHECK(contains(error_of([&] { evaluated(a + b); }), "2 x 3 and 2 x 4"));
  CHECK(contains(error_of([&] { evaluated(a + c); }), "2 x 3 and 3 x 3"));
}
