#pragma once
#include <array>

#include "attn/ops/expression.hpp"
#include "cuda/guarded.hpp"

// Element-wise expressions. All: kind, rows, width, gap; bound, add; in_place: the result's place is the first operand's.

enum class ExpressionKind {
  gated_residual,
  swiglu,
  every_leaf,
  repeated_leaves,
  functions,
  more_functions,
  user_functions
};

inline constexpr int kExpressionKinds = 7;

/// Without a derivative.
struct Interpolate {
  template <class T>
  ATTN_BOTH static T value(T a, T b, T c) {
    return a * attn::sigmoid(c) + attn::where(b > T(0), b, T(0.5) * b) * (1 - attn::sigmoid(c));
  }
};
/// With one.
struct ScaledSquare {
  template <class T>
  ATTN_BOTH static T value(T a, T b) {
    return a * a * b;
  }
  template <class T>
  ATTN_BOTH static std::array<T, 2> derivative(T a, T b) {
    return {2 * a * b, a * a};
  }
};

template <class F, class... E>
attn::Apply<F, E...> apply(const E&... of) {
  return {{of...}};
}

/// Operands of every kind of leaf, with places for their gradients.
template <class Device>
class ExpressionOperands {
 public:
  using Scalar = typename Device::Scalar;
  using Dense = attn::DenseLeaf<Scalar>;
  using Vector = attn::RowLeaf<Scalar, typename Device::Real>;
  using Column = attn::ColumnLeaf<Scalar>;

  ExpressionOperands(Device& device, const OpCase& test, Precision precision)
      : device_(device),
        rows_(test.size("rows")),
        width_(test.size("width")),
        gap_(test.size("gap")),
        precision_(precision),
        bound_(test.number("bound", 2)),
        add_(test.flag("add")),
        in_place_(test.flag("in_place")) {}

  Dense a() const { return {a_, {da_, add_}}; }
  Dense b() const { return {b_, {db_, add_}}; }
  Vector u() const { return {u_.data(), du_.data()}; }
  Vector v() const { return {v_.data(), dv_.data()}; }
  Column c() const { return {c_, {dc_, add_}}; }

  /// The expression's value and the gradients of its operands. Those that it does not have keep their NaN, and are left out.
  template <class E>
  Results run(const E& expression) {
    evaluate_expression_gradient(device_, attn::ExpressionGradientArgs<Device, E>{expression, dy_});
    evaluate_expression(device_, attn::ExpressionArgs<Device, E>{expression, in_place_ ? a_.view() : y_.view()});
    // Sums of many numbers, and functions of float hardware that are good to two units, of which an expression has several.
    // Far from 0, 1 - t² in the slope of GELU cancels, and is then multiplied by up to 60; PyTorch computes the same.
    const double floor = bound_ > 4 ? 0x1p-19 : 0x1p-21, unless_rounded = precision_ == Precision::float32 ? floor : 0;
    Results results{{.name = "y", .numbers = (in_place_ ? a_ : y_).read("y"), .floor = unless_rounded},
                    {.name = "du", .numbers = du_.read("du"), .in_float = true, .floor = floor},
                    {.name = "dv", .numbers = dv_.read("dv"), .in_float = true, .floor = floor}};
    const auto add_result = [&](const char* name, const Numbers& numbers) {
      if (!numbers.empty() && std::isnan(numbers[0])) return;
      results.push_back({.name = name, .numbers = numbers, .floor = unless_rounded});
    };
    add_result("da", da_.read("da"));
    add_result("db", db_.read("db"));
    add_result("dc", dc_.read("dc"));
    return results;
  }

 private:
  Activations<Device> make(attn::Index rows, attn::Index cols, std::uint64_t stream, double bound, attn::Index gap) const {
    return {device_, rows, cols, operand(rows * cols, stream, precision_, bound), gap};
  }
  Activations<Device> result(attn::Index cols, std::uint64_t stream) const {
    return {device_, rows_, cols, add_ ? operand(rows_ * cols, stream, precision_) : Numbers{}, gap_};
  }
  Reals<Device> vector_gradient(std::uint64_t stream) const {
    return {device_, 1, width_, operand(width_, stream, precision_)};
  }

  Device& device_;
  attn::Index rows_, width_, gap_;
  Precision precision_;
  double bound_;
  bool add_, in_place_;
  Activations<Device> a_ = make(rows_, width_, 1, bound_, gap_), b_ = make(rows_, width_, 2, bound_, gap_),
                      u_ = make(1, width_, 3, 1, 0), v_ = make(1, width_, 4, 1, 0), c_ = make(rows_, 1, 5, 1, gap_),
                      dy_ = make(rows_, width_, 6, 1, gap_), y_{device_, rows_, width_, {}, gap_};
  Activations<Device> da_ = result(width_, 7), db_ = result(width_, 8), dc_ = result(1, 9);
  Reals<Device> du_ = vector_gradient(10), dv_ = vector_gradient(11);
};

template <class Device>
Results expression_case(Device& device, const OpCase& test, Precision precision) {
  using namespace attn;
  using namespace attn::functions;
  ExpressionOperands<Device> of(device, test, precision);
  const auto a = of.a(), b = of.b();
  const auto u = of.u(), v = of.v();
  const auto c = of.c();
  const auto number = [](double value) { return ScalarLeaf{value}; };
  switch (static_cast<ExpressionKind>(test.size("kind"))) {
    case ExpressionKind::gated_residual:
      return of.run(apply<Add>(a, apply<Multiply>(apply<Sigmoid>(u), b)));
    case ExpressionKind::swiglu:
      return of.run(apply<Multiply>(apply<Silu>(a), b));
    case ExpressionKind::every_leaf: {
      const auto scaled = apply<Multiply>(apply<Add>(apply<Multiply>(a, u), v), apply<Tanh>(c));
      return of.run(
          apply<Multiply>(apply<Subtract>(scaled, apply<Multiply>(number(0.5), b)), DropoutLeaf{{0.25f, key_of_seed(12)}}));
    }
    case ExpressionKind::repeated_leaves:
      return of.run(apply<Add>(apply<Add>(apply<Multiply>(a, a), apply<Multiply>(u, u)),
                               apply<Multiply>(apply<Multiply>(c, c), apply<Subtract>(a, u))));
    case ExpressionKind::functions: {
      const auto chosen = apply<Where>(apply<Less>(a, b), apply<Gelu>(a), apply<Softplus>(b));
      const auto quotient = apply<Divide>(apply<Max>(a, b), apply<Add>(apply<Square>(b), number(1)));
      return of.run(apply<Subtract>(apply<Add>(chosen, apply<Multiply>(apply<Tanh>(a), apply<GeluExact>(b))), quotient));
    }
    case ExpressionKind::more_functions: {
      const auto smooth =
          apply<Add>(apply<Exp>(apply<Negate>(apply<Abs>(a))), apply<Log>(apply<Add>(apply<Square>(b), number(1))));
      const auto rest =
          apply<Multiply>(apply<Sqrt>(apply<Add>(apply<Square>(a), number(0.5))), apply<Min>(apply<Relu>(a), b));
      return of.run(apply<Add>(apply<Multiply>(smooth, apply<GreaterEqual>(b, v)), rest));
    }
    case ExpressionKind::user_functions:
      return of.run(apply<ScaledSquare>(apply<Interpolate>(a, b, c), u));
  }
  fail("no expression has the number ", test.size("kind"));
}
