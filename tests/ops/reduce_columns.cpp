#include "attn/ops/reductions.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;
using attn::Reduction;

namespace {

template <class T>
struct ReduceColumns {
  Cpu<T>& device;
  Reduction kind;
  Tensor<Cpu<T>> x, dy;

  ReduceColumns(Cpu<T>& on, Reduction by, Index rows, Index cols)
      : device(on),
        kind(by),
        x(on, rows, cols, random_numbers(rows * cols, 1), 2),
        dy(on, rows, 1, random_numbers(rows, 2), 1) {}

  Numbers y() {
    const Tensor<Cpu<T>> result(device, x.rows(), 1, kUnset, 3);
    reduce_columns(device, {.kind = kind, .x = x, .y = result});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, 3), forward(device, x.rows(), 1, y());
    reduce_columns_gradient(device, {.kind = kind, .x = x, .y = forward, .dy = dy, .dx = {result, add}});
    CHECK(result.outside_untouched());
    return result.read();
  }
};

constexpr Reduction kAll[] = {Reduction::sum, Reduction::mean, Reduction::max};

}  // namespace

TEST_CASE_TEMPLATE("reduce_columns: values and gradients match PyTorch with equal maxima too", T, float, double) {
  Cpu<T> device(2);
  const std::string names[] = {"sum", "mean", "max"};
  for (const Reduction kind : kAll) {
    const std::string name = "reduce_columns/" + names[static_cast<int>(kind)];
    CAPTURE(name);
    ReduceColumns<T> op(device, kind, 3, 4);
    op.x.write(reference(name + "/x"));
    op.dy.write(reference(name + "/gradient/y"));
    CHECK(distance(op.y(), reference(name + "/y")) <= kReferenceTolerance<T>);
    CHECK(distance(op.dx(), reference(name + "/gradient/x")) <= kReferenceTolerance<T>);
  }
}

TEST_CASE("reduce_columns: small inputs match known values") {
  Cpu<double> device(1);
  for (const Reduction kind : kAll) {
    ReduceColumns<double> op(device, kind, 2, 3);
    op.x.write({1, 5, 3, -2, -4, -2});
    op.dy.write({6, 9});
    CHECK(op.y() == (kind == Reduction::sum    ? Numbers{9, -8}
                     : kind == Reduction::mean ? Numbers{3, -8 / 3.0}
                                               : Numbers{5, -2}));
    CHECK(op.dx() == (kind == Reduction::sum    ? Numbers{6, 6, 6, 9, 9, 9}
                      : kind == Reduction::mean ? Numbers{2, 2, 2, 3, 3, 3}
                                                : Numbers{0, 6, 0, 9, 0, 0}));
  }
}

TEST_CASE("reduce_columns: gradients match finite differences and overwrite or accumulate") {
  Cpu<double> device(2);
  for (const Reduction kind : kAll)
    for (const Index cols : {1, 3, 17}) {
      ReduceColumns<double> op(device, kind, 4, cols);
      const Numbers dx = op.dx();
      check_gradient("x", op.x, dx, [&] { return dot(op.dy.read(), op.y()); });
      CHECK(distance(op.dx(true, 2), sum_of(dx, Numbers(dx.size(), 2))) <= 1e-15);
    }
}

TEST_CASE_TEMPLATE("reduce_columns: the maximum handles huge values and -inf and NaN", T, float, double) {
  Cpu<T> device(1);
  ReduceColumns<T> op(device, Reduction::max, 3, 3);
  op.x.write({-1e30, -2e30, -3e30, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, 1, std::nan(""), 2});
  op.dy.write({4, 5, 6});
  const Numbers y = op.y();
  CHECK(y[0] == doctest::Approx(-1e30));
  CHECK(y[1] == -HUGE_VAL);
  CHECK(std::isnan(y[2]));
  CHECK(op.dx() == Numbers{4, 0, 0, 5, 0, 0, 0, 6, 0});
}

TEST_CASE("reduce_columns: accepts no rows and no columns") {
  Cpu<double> device(2);
  for (const Reduction kind : kAll) CHECK(ReduceColumns<double>(device, kind, 0, 3).dx().empty());
  CHECK(ReduceColumns<double>(device, Reduction::sum, 2, 0).y() == Numbers{0, 0});
  CHECK(ReduceColumns<double>(device, Reduction::sum, 2, 0).dx().empty());
  CHECK(contains(error_of([&] { ReduceColumns<double>(device, Reduction::mean, 2, 0).y(); }), "mean of 0 columns"));
  CHECK(contains(error_of([&] { ReduceColumns<double>(device, Reduction::max, 2, 0).y(); }), "max of 0 columns"));
}

TEST_CASE_TEMPLATE("reduce_columns: results do not depend on the number of threads", T, float, double) {
  for (const Reduction kind : kAll)
    check_threads<T>([&](Cpu<T>& device) {
      ReduceColumns<T> op(device, kind, 101, 700);
      return joined({op.y(), op.dx()});
    });
}
