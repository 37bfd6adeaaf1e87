#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/arithmetic.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;
using Column = attn::Variable<Device, 1>;

namespace {

TapeMode dropping(bool record) {
  TapeMode mode = TapeMode::training(1, 2);
  mode.record = record;
  return mode;
}

}  // namespace

TEST_CASE("expression: a tape that does not record gives the same values and no gradient") {
  Device device(1);
  TestParameter<Device> parameter(device, 4, 1, 3);
  const attn::Parameter<Device>& vector = parameter;
  const auto run = [&](TapeMode mode, bool gradient) {
    Tape tape(device, mode);
    const Variable y = sigmoid(input<4>(tape, random_numbers(8, 1))) * vector;
    CHECK((y.slot != nullptr) == gradient);
    return values(tape, y);
  };
  CHECK(same_bits(run(TapeMode::inference(), false), run(TapeMode::gradients(), true)));
}

TEST_CASE("expression: operands without gradients give none and one learned vector gives one") {
  Device device(1);
  TestParameter<Device> frozen(device, 4, 1, 1), learns(device, 4, 1, 2);
  frozen.frozen = true;
  const attn::Parameter<Device>&fixed = frozen, &vector = learns;
  Tensor<Device> numbers(device, 3, 4, random_numbers(12, 3));
  Tape tape(device, TapeMode::gradients());
  const Variable x = tape.constant(numbers);
  CHECK(Variable(x * fixed).slot == nullptr);
  const Variable y = x * fixed * vector;
  CHECK(y.slot != nullptr);
  contribute(tape, y, Numbers(12, 1));
  tape.backward();
  CHECK(frozen.gradients.read() == Numbers(4, 0));
  Numbers expected(4, 0);
  for (std::size_t i = 0; i < 12; ++i) expected[i % 4] += numbers.read()[i] * frozen.numbers.read()[i % 4];
  CHECK(distance(learns.gradients.read(), expected) <= 1e-14);
}

TEST_CASE("expression: the gradient of a learned vector accumulates") {
  Device device(1);
  TestParameter<Device> parameter(device, 2, 1, 1);
  parameter.gradients.write({10, 20});
  const attn::Parameter<Device>& vector = parameter;
  Tape tape(device, TapeMode::gradients());
  const auto x = input<2>(tape, {1, 2, 3, 4});
  contribute<Device>(tape, x * vector, {1, 1, 1, 1});
  tape.backward();
  CHECK(parameter.gradients.read() == Numbers{14, 26});
}

TEST_CASE("expression: dropout equals dropout alone with its gradient") {
  Device device(2);
  Tensor<Device> x(device, 6, 5, random_numbers(30, 1)), z(device, 6, 5, random_numbers(30, 2));
  const Numbers dy = random_numbers(30, 3);
  const auto run = [&](const auto& function) {
    Tape tape(device, dropping(true));
    const auto in = input<5>(tape, x.read()), other = input<5>(tape, z.read());
    const Variable y = function(in, other);
    contribute(tape, y, dy);
    tape.backward();
    return std::array{values(tape, y), gradient<Device>(tape, in), gradient<Device>(tape, other)};
  };
  const auto function = [](auto in, auto other) {
    const auto first = dropout(in, 0.4f);  // the order of two masks in one expression is unspecified
    const auto second = dropout(tanh(other), 0.2f);
    return Variable(first * other + second);
  };
  const auto together = run(function);
  const auto apart = run([](auto in, auto other) {
    const Variable first = dropout(in, 0.4f), second = dropout(Variable(tanh(other)), 0.2f);
    return Variable(first * other + second);
  });
  for (std::size_t i = 0; i < 3; ++i) CHECK(distance(together[i], apart[i]) <= 1e-14);
  const auto value = [&] {
    Tape again(device, dropping(false));
    return dot(dy, values(again, function(input<5>(again, x.read()), input<5>(again, z.read()))));
  };
  check_gradient("x", x, together[1], value);
  check_gradient("z", z, together[2], value);
  CHECK(std::count(together[1].begin(), together[1].end(), 0.0) > 3);  // else nothing was dropped
}

TEST_CASE("expression: dropout on a tape without dropout changes nothing") {
  Device device(1);
  for (const TapeMode mode : {TapeMode::inference(), TapeMode::gradients()}) {
    Tape tape(device, mode);
    const auto x = input<3>(tape, random_numbers(6, 1));
    const Column column = input<1>(tape, {3, 4});
    const Variable same = dropout(x, 0.5f), same_column = dropout(column, 0.5f);
    CHECK(same.value.data == x.value.data);
    CHECK(same.slot == x.slot);
    CHECK(same_column.value.data == column.value.data);
    CHECK(same_column.slot == column.slot);
    CHECK(same_bits(values<Device>(tape, dropout(2 * x, 0.5f) + column), values<Device>(tape, 2 * x + column)));
  }
  Tape tape(device, dropping(false));
  const auto x = input<3>(tape, random_numbers(6, 1));
  CHECK(Variable(dropout(x, 0)).value.data == x.value.data);
}

TEST_CASE("expression: activations of two tapes give an expression on the inner tape") {
  Device device(1);
  Tape outer(device);
  const auto a = input<2>(outer, {1, 2});
  {
    Tape inner(device, TapeMode::gradients());
    const auto b = input<2>(inner, {3, 5});
    for (const Variable& y : {Variable(a * b), Variable(b * a)}) {
      CHECK(&y.tape() == &inner);
      CHECK(values(inner, y) == Numbers{3, 10});
    }
    CHECK(&Variable(dropout(a * b, 0.1f)).tape() == &inner);
    contribute<Device>(inner, a * b, {1, 1});
    inner.backward();
    CHECK(gradient<Device>(inner, b) == Numbers{1, 2});
  }
  CHECK(&Variable(a + 1).tape() == &outer);
}

TEST_CASE("expression: an inner tape that does not record gives no gradient") {
  Device device(1);
  Tape outer(device, TapeMode::gradients());
  const auto a = input<2>(outer, {1, 2});
  Tape inner(device);
  const auto b = input<2>(inner, {3, 5});
  CHECK(Variable(a + b).slot == nullptr);
}

TEST_CASE("expression: errors for incompatible operands name their shapes") {
  Device device(1);
  TestParameter<Device> four(device, 4, 1, 1), square_matrix(device, 3, 3, 2);
  const attn::Parameter<Device>&vector = four, &matrix = square_matrix;
  Tape tape(device);
  const Variable x = input<3>(tape, Numbers(6, 1)), narrow = input<1>(tape, {1, 2});
  const Column column = input<1>(tape, {1, 2, 3});
  const auto error = [](const auto& expression) { return error_of([&] { evaluated(expression); }); };
  CHECK(contains(error(x * column), "activations of 2 x 3 and 3 x 1"));
  CHECK(contains(error(column * x), "activations of 3 x 1 and 2 x 3"));
  CHECK(contains(error(column + Column(narrow)), "activations of 3 x 1 and 2 x 1"));
  CHECK(contains(error(x * narrow), "2 x 3 and 2 x 1; to broadcast a column, convert it to Variable<Device, 1>"));
  CHECK(contains(error(x + vector), "3 columns with a parameter of 4 x 1; a learned vector has one number per column"));
  CHECK(contains(error(x * matrix), "3 columns with a parameter of 3 x 3"));
  CHECK(contains(error(2 * vector), "needs at least one activation"));
  CHECK(contains(error_of([&] { dropout(2 * vector, 0.1f); }), "without an activation has no rows"));
  CHECK(contains(error_of([&] { attn::Variable<Device, 4>(2 * x); }), "an activation of 3 columns"));
  CHECK(contains(error_of([&] { dropout(2 * x, 1.5f); }), "a rate of 1.5 is not in [0, 1)"));
  CHECK(contains(error(x + Variable()), "on no tape"));
}
