#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/arithmetic.hpp"
#include "support/tape.hpp"

using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

/// Two activations of 1 x 4, and what expressions of them are.
struct Values {
  Device device{1};
  Tape tape{device};
  attn::Variable<Device, 4> a = input<4>(tape, {-2, -0.5, 0, 3}), b = input<4>(tape, {1, -0.5, 4, 2});

  Numbers of(const Variable& y) { return values(tape, y); }
  template <class Function>
  void check(const Variable& y, const Function& function) {
    Numbers expected;
    for (const double x : values(tape, Variable(a))) expected.push_back(function(x));
    CHECK(distance(of(y), expected) <= 1e-14);
  }
};

}  // namespace

TEST_CASE("operators: values with numbers on either side") {
  Values v;
  const auto a = v.a, b = v.b;
  CHECK(v.of(a + b) == Numbers{-1, -1, 4, 5});
  CHECK(v.of(a - b) == Numbers{-3, 0, -4, 1});
  CHECK(v.of(a * b) == Numbers{-2, 0.25, 0, 6});
  CHECK(v.of(a / b) == Numbers{-2, 1, 0, 1.5});
  CHECK(v.of(-a) == Numbers{2, 0.5, -0.0, -3});
  CHECK(v.of(a + 1) == Numbers{-1, 0.5, 1, 4});
  CHECK(v.of(1 + a) == Numbers{-1, 0.5, 1, 4});
  CHECK(v.of(a - 0.5) == Numbers{-2.5, -1, -0.5, 2.5});
  CHECK(v.of(1.5f - a) == Numbers{3.5, 2, 1.5, -1.5});
  CHECK(v.of(2 * a) == Numbers{-4, -1, 0, 6});
  CHECK(v.of(a * 2L) == Numbers{-4, -1, 0, 6});
  CHECK(v.of(a / 2) == Numbers{-1, -0.25, 0, 1.5});
  CHECK(v.of(2 / b) == Numbers{2, -4, 0.5, 1});
}

TEST_CASE("operators: comparisons are 1 or 0 and where selects") {
  Values v;
  const auto a = v.a, b = v.b;
  CHECK(v.of(a < b) == Numbers{1, 0, 1, 0});
  CHECK(v.of(a <= b) == Numbers{1, 1, 1, 0});
  CHECK(v.of(a > b) == Numbers{0, 0, 0, 1});
  CHECK(v.of(a >= b) == Numbers{0, 1, 0, 1});
  CHECK(v.of(0 < a) == Numbers{0, 0, 0, 1});
  CHECK(v.of(where(a > 0, a, 10 * b)) == Numbers{10, -5, 40, 3});
  CHECK(v.of(where(a, 1, b)) == Numbers{1, 1, 4, 1});  // 0 is false, everything else is true
  CHECK(v.of(max(a, b)) == Numbers{1, -0.5, 4, 3});
  CHECK(v.of(min(a, b)) == Numbers{-2, -0.5, 0, 2});
  CHECK(v.of(max(a, -1)) == Numbers{-1, -0.5, 0, 3});
  CHECK(v.of(min(1, a)) == Numbers{-2, -0.5, 0, 1});
  CHECK(v.of(max(a, a)) == Numbers{-2, -0.5, 0, 3});
}

TEST_CASE("operators: functions of activations match functions of numbers") {
  Values v;
  const auto a = v.a;
  v.check(exp(a), [](double x) { return std::exp(x); });
  v.check(log(3 + a), [](double x) { return std::log(3 + x); });
  v.check(sqrt(2 + a), [](double x) { return std::sqrt(2 + x); });
  v.check(abs(a), [](double x) { return std::abs(x); });
  v.check(tanh(a), [](double x) { return std::tanh(x); });
  v.check(sigmoid(a), [](double x) { return 1 / (1 + std::exp(-x)); });
  v.check(relu(a), [](double x) { return std::max(x, 0.0); });
  v.check(silu(a), [](double x) { return x / (1 + std::exp(-x)); });
  v.check(softplus(a), [](double x) { return std::log1p(std::exp(x)); });
  v.check(square(a), [](double x) { return x * x; });
  v.check(gelu_exact(a), [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; });
  v.check(gelu(a),
          [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))); });
}

TEST_CASE("operators: columns and vectors broadcast and together form an outer product") {
  Device device(1);
  Tape tape(device);
  TestParameter<Device> parameter(device, 1, 3, 1);
  parameter.numbers.write({1, 10, 100});
  const attn::Parameter<Device>& vector = parameter;
  const auto x = input<3>(tape, {1, 2, 3, 4, 5, 6});
  const auto column = input<1>(tape, {2, -1});
  CHECK(values<Device>(tape, x * column) == Numbers{2, 4, 6, -4, -5, -6});
  CHECK(values<Device>(tape, column - x) == Numbers{1, 0, -1, -5, -6, -7});
  CHECK(values<Device>(tape, x + vector) == Numbers{2, 12, 103, 5, 15, 106});
  CHECK(values<Device>(tape, vector * x) == Numbers{1, 20, 300, 4, 50, 600});
  CHECK(values<Device>(tape, vector * column) == Numbers{2, 20, 200, -1, -10, -100});
  CHECK(values<Device>(tape, x * vector + column) == Numbers{3, 22, 302, 3, 49, 599});
  const attn::Variable<Device, 1> squares = column * column + 1;
  CHECK(values<Device>(tape, squares) == Numbers{5, 2});
}

TEST_CASE("operators: gradients at kinks and ties match PyTorch") {
  // x = torch.tensor([-2., 0, 2], requires_grad=True); y = torch.tensor([1., 0, 2], requires_grad=True)
  // torch.autograd.grad(f(x, y).sum(), [x, y]) for f in torch.maximum, torch.minimum; .abs() and .relu() of x
  Device device(1);
  const auto gradients = [&](const auto& function) {
    Tape tape(device, attn::TapeMode::gradients());
    const auto x = input<3>(tape, {-2, 0, 2}), y = input<3>(tape, {1, 0, 2});
    contribute<Device>(tape, function(x, y), {1, 1, 1});
    tape.backward();
    return joined({gradient<Device>(tape, x), gradient<Device>(tape, y)});
  };
  CHECK(gradients([](auto x, auto y) { return Variable(max(x, y)); }) == Numbers{0, 0.5, 0.5, 1, 0.5, 0.5});
  CHECK(gradients([](auto x, auto y) { return Variable(min(x, y)); }) == Numbers{1, 0.5, 0.5, 0, 0.5, 0.5});
  CHECK(gradients([](auto x, auto) { return Variable(abs(x)); }) == Numbers{-1, 0, 1});
  CHECK(gradients([](auto x, auto) { return Variable(relu(x)); }) == Numbers{0, 0, 1});
  CHECK(gradients([](auto x, auto y) { return Variable(where(x > 0, 3 * y, y)); }) == Numbers{0, 0, 0, 1, 1, 3});
}
