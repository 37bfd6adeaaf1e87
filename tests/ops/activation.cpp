#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

enum class ActivationKind { relu, gelu, gelu_exact, silu };
constexpr ActivationKind kinds[] = {ActivationKind::relu, ActivationKind::gelu, ActivationKind::gelu_exact,
                                    ActivationKind::silu};

/// The activation of one operand as an expression, with a place for the gradient: use(expression).
template <class T, class Use>
void with_activation(ActivationKind kind, attn::Matrix<const T> x, attn::Sink<T> dx, const Use& use) {
  using Leaf = attn::DenseLeaf<T>;
  const Leaf leaf{x, dx};
  switch (kind) {
    case ActivationKind::relu:
      return use(attn::Apply<attn::functions::Relu, Leaf>{{leaf}});
    case ActivationKind::gelu:
      return use(attn::Apply<attn::functions::Gelu, Leaf>{{leaf}});
    case ActivationKind::gelu_exact:
      return use(attn::Apply<attn::functions::GeluExact, Leaf>{{leaf}});
    case ActivationKind::silu:
      return use(attn::Apply<attn::functions::Silu, Leaf>{{leaf}});
  }
}
template <class T>
void activation(Cpu<T>& device, ActivationKind kind, attn::Matrix<const T> x, attn::Matrix<T> y) {
  with_activation<T>(kind, x, {}, [&](auto of) {
    evaluate_expression(device, attn::ExpressionArgs<Cpu<T>, decltype(of)>{of, y});
  });
}

/// An activation of random rows.
template <class T>
struct Activation {
  Cpu<T>& device;
  ActivationKind kind;
  Tensor<Cpu<T>> x, dy;

  Activation(Cpu<T>& on, ActivationKind which, Index rows, Index width, double bound = 3)
      : device(on),
        kind(which),
        x(on, rows, width, random_numbers(rows * width, 1, bound), 1),
        dy(on, rows, width, random_numbers(rows * width, 2), 2) {}

  Numbers y(Index gap = 3) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), kUnset, gap);
    activation<T>(device, kind, x, result);
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, 1);
    with_activation<T>(kind, x, {result, add}, [&](auto of) {
      evaluate_expression_gradient(device, attn::ExpressionGradientArgs<Cpu<T>, decltype(of)>{of, dy});
    });
    CHECK(result.outside_untouched());
    return result.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("activation: values and derivatives match PyTorch", T, float, double) {
  Cpu<T> device(2);
  const double tolerance = sizeof(T) == 8 ? 1e-14 : 4e-7;
  const auto check = [&](ActivationKind kind, const Numbers& y, const Numbers& slope) {
    Activation<T> op(device, kind, 1, 7);
    op.x.write({-3, -1, -0.5, 0, 0.5, 1, 3});
    op.dy.write(Numbers(7, 1));
    CHECK(distance(op.y(), y) <= tolerance);
    CHECK(distance(op.dx(), slope) <= tolerance);
  };
  check(ActivationKind::relu, {0, 0, 0, 0, 0.5, 1, 3}, {0, 0, 0, 0, 1, 1, 1});
  check(ActivationKind::gelu,
        {-0.0036373920817729943, -0.15880800939172324, -0.15428599017485606, 0, 0.34571400982514394, 0.8411919906082768,
         2.996362607918227},
        {-0.011584166630969648, -0.08296408384578252, 0.13263009646535764, 0.5, 0.8673699035346424, 1.0829640838457826,
         1.0115841666309695});
  check(ActivationKind::gelu_exact,
        {-0.00404969409489031, -0.15865525393145702, -0.15426876936299344, 0, 0.34573123063700656, 0.841344746068543,
         2.99595030590511},
        {-0.01194564720418392, -0.08331547058768635, 0.13250487534383712, 0.5, 0.8674951246561629, 1.0833154705876864,
         1.011945647204184});
  check(ActivationKind::silu,
        {-0.14227761953270035, -0.2689414213699951, -0.1887703343990727, 0, 0.3112296656009273, 0.7310585786300049,
         2.8577223804672998},
        {-0.08810410601516962, 0.07232948812851325, 0.2600388126973482, 0.5, 0.7399611873026519, 0.9276705118714869,
         1.0881041060151693});
}

TEST_CASE("activation: gradients match finite differences and overwrite or accumulate") {
  Cpu<double> device(2);
  for (const ActivationKind kind : kinds)
    for (const Index width : {1, 5, 16}) {
      CAPTURE(static_cast<int>(kind));
      Activation<double> op(device, kind, 4, width);
      const Numbers dx = op.dx();
      check_gradient("x", op.x, dx, [&] { return dot(op.dy.read(), op.y()); });
      CHECK(distance(op.dx(true, 2), sum_of(dx, Numbers(dx.size(), 2))) <= 1e-14);
    }
}

TEST_CASE_TEMPLATE("activation: huge inputs give 0 or the input with derivatives 0 and 1", T, float, double) {
  Cpu<T> device(1);
  for (const ActivationKind kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    Activation<T> op(device, kind, 1, 4);
    op.x.write({-1e30, -200, 200, 1e30});
    op.dy.write(Numbers(4, 1));
    const Numbers x = op.x.read(), y = op.y(), slope = op.dx();
    CHECK(distance({y[0], y[1], slope[0], slope[1]}, Numbers(4, 0)) <= 1e-8);
    CHECK(y[2] == 200);
    CHECK(y[3] == x[3]);
    CHECK(distance({slope[2], slope[3]}, {1, 1}) <= 1e-6);
  }
}

TEST_CASE_TEMPLATE("activation: works in place and on empty input", T, float, double) {
  Cpu<T> device(2);
  for (const ActivationKind kind : kinds) {
    Activation<T> op(device, kind, 20, 9), none(device, kind, 0, 9);
    const Numbers apart = op.y(1);  // aligned as x is: which elements a vector takes depends on it
    activation<T>(device, kind, op.x, op.x);
    CHECK(op.x.read() == apart);
    CHECK(none.y().empty());
    CHECK(none.dx().empty());
  }
}

TEST_CASE_TEMPLATE("activation: results do not depend on the number of threads", T, float, double) {
  for (const ActivationKind kind : kinds)
    check_threads<T>([&](Cpu<T>& device) {
      Activation<T> op(device, kind, 101, 33);
      return joined({op.y(), op.dx()});
    });
}
