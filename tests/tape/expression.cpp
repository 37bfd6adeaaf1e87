#include "attn/tape/expression.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/arithmetic.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::Index;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;
using Column = attn::Variable<Device, 1>;

namespace {

/// Operands of each kind: activations, a column, learned vectors and a learned scalar. All are between 0.5 and 2, where every function is smooth.
struct Case {
  Device device{2};
  Tensor<Device> a, b, c;
  TestParameter<Device> u, v, s;

  struct Operands {
    Variable a, b;
    Column c;
    const attn::Parameter<Device>&u, &v, &s;
  };

  Case(Index rows, Index width)
      : a(device, rows, width, numbers(rows * width, 1)),
        b(device, rows, width, numbers(rows * width, 2)),
        c(device, rows, 1, numbers(rows, 3)),
        u(device, width, 1, 4),
        v(device, 1, width, 5),
        s(device, 1, 1, 7) {
    u.numbers.write(numbers(width, 4));
    v.numbers.write(numbers(width, 5));
    s.numbers.write(numbers(1, 7));
  }

  Operands operands(Tape& tape) const {
    const auto copy = [&](const Tensor<Device>& from) {
      const Variable x = tape.make(from.rows(), from.cols());
      const Numbers all = from.read();
      std::copy(all.begin(), all.end(), x.value.data);
      return x;
    };
    return {copy(a), copy(b), copy(c), u, v, s};
  }

  static Numbers numbers(Index count, std::uint64_t seed) {
    Numbers all = random_numbers(count, seed, 0.75);
    for (double& number : all) number += 1.25;
    return all;
  }
};

/// Checks the gradients of function(operands) with respect to all operands, those that it does not use included.
template <class Function>
void check(const char* name, const Function& function, Index rows = 3, Index width = 5) {
  CAPTURE(name);
  CAPTURE(rows);
  CAPTURE(width);
  Case of(rows, width);
  const Numbers dy = random_numbers(rows * width, 6);
  Tape tape(of.device, attn::TapeMode::gradients());
  const auto in = of.operands(tape);
  const Variable y = function(in);
  REQUIRE(y.rows() == rows);
  REQUIRE(y.cols() == width);
  contribute(tape, y, dy);
  tape.backward();
  const auto value = [&] {
    Tape again(of.device);
    const Variable z = function(of.operands(again));
    return dot(dy, values(again, z));
  };
  const auto check_variable = [&](const char* of_what, Tensor<Device>& x, const Variable& leaf) {
    Numbers found = gradient(tape, leaf);
    if (found.empty()) found.assign(x.read().size(), 0);
    check_gradient(of_what, x, found, value);
  };
  check_variable("a", of.a, in.a);
  check_variable("b", of.b, in.b);
  check_variable("c", of.c, in.c);
  check_gradient("u", of.u.numbers, of.u.gradients.read(), value);
  check_gradient("v", of.v.numbers, of.v.gradients.read(), value);
  check_gradient("s", of.s.numbers, of.s.gradients.read(), value);
}

/// A function of two operands, of operands of every kind.
template <class Function>
void check_binary(const char* name, const Function& f) {
  check(name, [&](const auto& x) {
    return f(x.a, x.b) + f(x.u, x.a) * f(x.b, x.c) + f(x.c, x.v) * f(x.a, 0.7) + f(0.7, x.a) + f(x.s, x.a) * f(x.c, x.s);
  });
}
/// A function of one operand, of operands of every kind.
template <class Function>
void check_unary(const char* name, const Function& f) {
  check(name, [&](const auto& x) { return f(x.a) * f(x.u) + f(x.c) * f(x.b - x.v) + f(x.s) * x.a; });
}

/// Without a derivative.
struct Cube {
  template <class T>
  static T value(T x) {
    return x * x * x;
  }
};
/// 1 or 0, with the derivative of the identity: a straight-through estimator.
struct Step {
  template <class T>
  static T value(T x) {
    return attn::where(x > T(0), T(1), T(0));
  }
  template <class T>
  static T derivative(T) {
    return T(1);
  }
};
/// a b + c, with its derivatives.
struct MultiplyAdd {
  template <class T>
  static T value(T a, T b, T c) {
    return a * b + c;
  }
  template <class T>
  static std::array<T, 3> derivative(T a, T b, T) {
    return {b, a, T(1)};
  }
};

}  // namespace

TEST_CASE("expression: operator gradients for activations and columns and vectors match finite differences") {
  check_binary("+", [](const auto& a, const auto& b) { return a + b; });
  check_binary("-", [](const auto& a, const auto& b) { return a - b; });
  check_binary("*", [](const auto& a, const auto& b) { return a * b; });
  check_binary("/", [](const auto& a, const auto& b) { return a / b; });
}

TEST_CASE("expression: gradients of max and min and where match finite differences") {
  check_binary("max", [](const auto& a, const auto& b) { return max(a, b); });
  check_binary("min", [](const auto& a, const auto& b) { return min(a, b); });
  check("where", [](const auto& x) { return where(x.a > x.u, x.b * x.c, where(x.c <= x.b, x.v, x.a)); });
}

TEST_CASE("expression: function gradients for activations and columns and vectors match finite differences") {
  check_unary("negate", [](const auto& x) { return -x; });
  check_unary("exp", [](const auto& x) { return exp(x); });
  check_unary("log", [](const auto& x) { return log(x + 2); });
  check_unary("sqrt", [](const auto& x) { return sqrt(x + 2); });
  check_unary("abs", [](const auto& x) { return abs(x); });
  check_unary("tanh", [](const auto& x) { return tanh(x); });
  check_unary("sigmoid", [](const auto& x) { return sigmoid(x); });
  check_unary("relu", [](const auto& x) { return relu(x); });
  check_unary("gelu", [](const auto& x) { return gelu(x); });
  check_unary("gelu_exact", [](const auto& x) { return gelu_exact(x); });
  check_unary("silu", [](const auto& x) { return silu(x); });
  check_unary("softplus", [](const auto& x) { return softplus(x); });
  check_unary("square", [](const auto& x) { return square(x); });
}

TEST_CASE("expression: gradients of nested expressions with repeated operands match finite differences") {
  for (const Index rows : {0, 1, 4})
    for (const Index width : {1, 3, 17})
      check(
          "nested",
          [](const auto& x) {
            const auto gate = sigmoid(x.u * x.a - x.c);
            return gate * x.a + (1 - gate) * tanh(x.b * x.b / x.c + x.v) - x.c * x.u * x.u;
          },
          rows, width);
}

TEST_CASE("expression: a column and a vector form an outer product with both gradients") {
  check("outer product", [](const auto& x) { return exp(-x.c * x.u) + x.c; });
}

TEST_CASE("expression: a learned scalar broadcasts over rows and columns with its gradient") {
  for (const Index rows : {0, 1, 40})
    for (const Index width : {1, 3, 17}) {
      check(
          "one use", [](const auto& x) { return x.a + sigmoid(x.s) * x.b; }, rows, width);
      check(
          "first operand", [](const auto& x) { return x.s * x.c * x.u; }, rows, width);
      check(
          "several uses", [](const auto& x) { return x.s * x.s * x.a - x.s / x.v + exp(-x.s) * x.c; }, rows, width);
    }
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  TestParameter<Device> parameter(device, 1, 1, 1);
  const attn::Parameter<Device>& scalar = parameter;
  parameter.numbers.write({3});
  const auto x = input<2>(tape, {1, 2, 3, 4, 5, 6});
  const Column column = input<1>(tape, {10, 20, 30}), more = scalar * column;
  const Variable y = scalar * x;
  CHECK(values<Device>(tape, more) == Numbers{30, 60, 90});
  CHECK(values(tape, y) == Numbers{3, 6, 9, 12, 15, 18});
  contribute(tape, y, {1, 1, 1, 1, 1, 1});
  contribute<Device>(tape, more, {1, 1, 1});
  tape.backward();
  CHECK(parameter.gradients.read() == Numbers{21 + 60});
  CHECK(gradient<Device>(tape, x) == Numbers(6, 3));
}

TEST_CASE("expression: a frozen learned scalar gets no gradient") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  TestParameter<Device> parameter(device, 1, 1, 1);
  const attn::Parameter<Device>& scalar = parameter;
  parameter.frozen = true;
  const auto x = input<2>(tape, {1, 2, 3, 4});
  const Variable y = scalar * x;
  contribute(tape, y, {1, 1, 1, 1});
  tape.backward();
  CHECK(parameter.gradients.read() == Numbers{0});
}

TEST_CASE("expression: an activation used by several expressions gets all gradients") {
  check("several expressions", [](const auto& x) {
    const Variable first = x.a * x.c + x.u, second = first * x.a - x.u;
    const Column half = 0.5 * x.c * x.c;
    return Variable(first * second + half);
  });
}

TEST_CASE("expression: user-defined functions work with and without a derivative") {
  check("Cube", [](const auto& x) { return attn::apply<Cube>(x.a - x.u) * attn::apply<Cube>(x.c); });
  check("MultiplyAdd",
        [](const auto& x) { return attn::apply<MultiplyAdd>(x.a, x.c, attn::apply<MultiplyAdd>(x.u, 2, x.b)); });
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  const auto x = input<4>(tape, {-1, 0, 0.5, 2});
  const Variable y = 3 * attn::apply<Step>(x);
  CHECK(values(tape, y) == Numbers{0, 0, 3, 3});
  contribute(tape, y, {1, 2, 3, 4});
  tape.backward();
  CHECK(gradient<Device>(tape, x) == Numbers{3, 6, 9, 12});
}

TEST_CASE("expression: static-width expressions become static or dynamic variables with the same values") {
  Device device(1);
  Tape tape(device);
  const auto x = input<3>(tape, random_numbers(6, 1)), y = input<3>(tape, random_numbers(6, 2));
  const Variable open = y;
  static_assert(decltype(x + y)::width == 3);
  static_assert(decltype(x + open)::width == 3);
  static_assert(decltype(2 * open)::width == attn::dynamic);
  static_assert(decltype(open + input<1>(tape, {}))::width == attn::dynamic);
  const attn::Variable<Device, 3> fixed = x + y;
  const Variable dynamic = x + y;
  attn::Variable<Device, 3> assigned;
  assigned = x + open;
  CHECK(same_bits(values<Device>(tape, fixed), values(tape, dynamic)));
  CHECK(same_bits(values<Device>(tape, fixed), values<Device>(tape, assigned)));
  CHECK(same_bits(values<Device>(tape, fixed), values(tape, evaluated(open + x))));
}
