#include "attn/ops/reductions.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;
using attn::RowReduction;

namespace {

template <class T>
struct ReduceRows {
  Cpu<T>& device;
  RowReduction kind;
  Layout<Cpu<T>> rows;
  Tensor<Cpu<T>> x, dy;

  ReduceRows(Cpu<T>& on, RowReduction by, const std::vector<std::int32_t>& lengths, Index cols, std::int32_t spare = 0)
      : device(on),
        kind(by),
        rows(on, lengths, spare),
        x(on, rows.rows(), cols, random_numbers(rows.rows() * cols, 1), 2),
        dy(on, static_cast<Index>(lengths.size()), cols, random_numbers(static_cast<Index>(lengths.size()) * cols, 2), 1) {}

  Numbers y() {
    const Tensor<Cpu<T>> result(device, dy.rows(), dy.cols(), kUnset, 3);
    reduce_rows(device, {.kind = kind, .x = x, .rows = rows, .y = {result}});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, 3), forward(device, dy.rows(), dy.cols(), y());
    reduce_rows_gradient(device, {.kind = kind, .x = x, .y = forward, .rows = rows, .dy = dy, .dx = {result, add}});
    CHECK(result.outside_untouched());
    return result.read();
  }
};

constexpr RowReduction kAll[] = {RowReduction::sum, RowReduction::mean, RowReduction::max, RowReduction::first,
                                 RowReduction::last};

}  // namespace

TEST_CASE_TEMPLATE("reduce_rows: one sentence and its gradient match PyTorch with equal maxima too", T, float, double) {
  Cpu<T> device(2);
  const std::string names[] = {"sum", "mean", "max"};
  for (const RowReduction kind : {RowReduction::sum, RowReduction::mean, RowReduction::max}) {
    const std::string name = "reduce_rows/" + names[static_cast<int>(kind)];
    CAPTURE(name);
    ReduceRows<T> op(device, kind, {4}, 3);
    op.x.write(reference(name + "/x"));
    op.dy.write(reference(name + "/gradient/y"));
    CHECK(distance(op.y(), reference(name + "/y")) <= kReferenceTolerance<T>);
    CHECK(distance(op.dx(), reference(name + "/gradient/x")) <= kReferenceTolerance<T>);
  }
}

TEST_CASE("reduce_rows: handles empty sentences and rows outside all sentences") {
  Cpu<double> device(2);
  const auto check = [&](RowReduction kind, const Numbers& y, const Numbers& dx) {
    CAPTURE(static_cast<int>(kind));
    ReduceRows<double> op(device, kind, {3, 0, 1}, 2, 1);  // rows 3, 4 and 6 are outside
    op.x.write({1, 6, 4, 2, 4, 1, kUnset, kUnset, kUnset, kUnset, 7, 8, kUnset, kUnset});
    op.dy.write({3, 6, 50, 60, 9, 12});
    CHECK(op.y() == y);
    CHECK(op.dx() == dx);
  };
  check(RowReduction::sum, {9, 9, 0, 0, 7, 8}, {3, 6, 3, 6, 3, 6, 0, 0, 0, 0, 9, 12, 0, 0});
  check(RowReduction::mean, {3, 3, 0, 0, 7, 8}, {1, 2, 1, 2, 1, 2, 0, 0, 0, 0, 9, 12, 0, 0});
  check(RowReduction::max, {4, 6, 0, 0, 7, 8}, {0, 6, 3, 0, 0, 0, 0, 0, 0, 0, 9, 12, 0, 0});
  check(RowReduction::first, {1, 6, 0, 0, 7, 8}, {3, 6, 0, 0, 0, 0, 0, 0, 0, 0, 9, 12, 0, 0});
  check(RowReduction::last, {4, 1, 0, 0, 7, 8}, {0, 0, 0, 0, 3, 6, 0, 0, 0, 0, 9, 12, 0, 0});
}

TEST_CASE("reduce_rows: gradients match finite differences and overwrite or accumulate") {
  Cpu<double> device(2);
  const std::vector<std::vector<std::int32_t>> batches{{1}, {3, 0, 5, 1}, {0}, {}};
  for (const RowReduction kind : kAll)
    for (const auto& lengths : batches)
      for (const Index cols : {1, 3, 17}) {
        ReduceRows<double> op(device, kind, lengths, cols, cols == 3 ? 2 : 0);
        const Numbers dx = op.dx();
        check_gradient("x", op.x, dx, [&] { return dot(op.dy.read(), op.y()); });
        CHECK(distance(op.dx(true, 2), sum_of(dx, Numbers(dx.size(), 2))) <= 1e-15);
      }
}

TEST_CASE_TEMPLATE("reduce_rows: the maximum handles huge values and -inf and NaN", T, float, double) {
  Cpu<T> device(1);
  ReduceRows<T> op(device, RowReduction::max, {3}, 3);
  op.x.write({-2e30, -HUGE_VAL, 1, -1e30, -HUGE_VAL, std::nan(""), -3e30, -HUGE_VAL, 2});
  op.dy.write({4, 5, 6});
  const Numbers y = op.y();
  CHECK(y[0] == doctest::Approx(-1e30));
  CHECK(y[1] == -HUGE_VAL);
  CHECK(std::isnan(y[2]));
  CHECK(op.dx() == Numbers{0, 5, 0, 4, 0, 6, 0, 0, 0});
}

TEST_CASE("reduce_rows: rejects listed rows") {
  Cpu<double> device(1);
  const Layout<Cpu<double>> layout(device, {2});
  attn::Ragged listed = layout;
  listed.row_indices = listed.begin;
  const Tensor<Cpu<double>> x(device, 2, 1, 0.0), y(device, 1, 1);
  CHECK(contains(error_of([&] { reduce_rows(device, {.x = x, .rows = listed, .y = {y}}); }), "reduce_rows"));
}

TEST_CASE_TEMPLATE("reduce_rows: results do not depend on the number of threads", T, float, double) {
  for (const RowReduction kind : kAll)
    check_threads<T>([&](Cpu<T>& device) {
      ReduceRows<T> op(device, kind, {30, 7, 0, 61, 1, 20}, 37);
      return joined({op.y(), op.dx()});
    });
}
