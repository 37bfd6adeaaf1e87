#include "attn/ops/expression.hpp"

#include <doctest/doctest.h>

#include "support/expression_op.hpp"
#include "support/gradients.hpp"

using attn::Cpu;
using attn::Index;
using attn::ScalarLeaf;
using namespace expression_op;

namespace {

/// Compares the gradients of F with differences, for arguments of every kind of leaf.
template <class F, int Arguments>
void check_numerically(double low) {
  Cpu<double> device(2);
  for (const Index cols : {1, 3, 8, 17}) {
    CAPTURE(cols);
    Operands<double> of(device, 5, cols, kUnset, low);
    const auto check = [&](const char* name, const auto& expression, std::initializer_list<int> leaves) {
      CAPTURE(name);
      const auto loss = [&] { return dot(of.dy.read(), evaluated(device, expression, of.rows, of.cols)); };
      of.drow.write(Numbers(static_cast<std::size_t>(cols), 0));
      differentiate(device, expression, of.dy);
      CHECK(of.outside_untouched());
      for (const int leaf : leaves) {
        if (leaf == 0) check_gradient("a", of.a, of.da.read(), loss);
        if (leaf == 1) check_gradient("b", of.b, of.db.read(), loss);
        if (leaf == 2) check_gradient("row", of.row, of.drow.read(), loss);
        if (leaf == 3) check_gradient("column", of.column, of.dcolumn.read(), loss);
      }
    };
    if constexpr (Arguments == 1) {
      check("dense", apply<F>(of.dense_a()), {0});
      check("row", apply<F>(of.vector()), {2});
      check("column", apply<F>(of.per_row()), {3});
    } else if constexpr (Arguments == 2) {
      check("dense, dense", apply<F>(of.dense_a(), of.dense_b()), {0, 1});
      check("dense, row", apply<F>(of.dense_a(), of.vector()), {0, 2});
      check("column, dense", apply<F>(of.per_row(), of.dense_a()), {3, 0});
      check("row, column", apply<F>(of.vector(), of.per_row()), {2, 3});
      check("number, dense", apply<F>(ScalarLeaf{0.7}, of.dense_a()), {0});
    } else {
      check("dense, row, column", apply<F>(of.dense_a(), of.vector(), of.per_row()), {0, 2, 3});
      check("column, dense, dense", apply<F>(of.per_row(), of.dense_a(), of.dense_b()), {3, 0, 1});
    }
  }
}

struct Mixture {  // without a derivative
  template <class T>
  static T value(T a, T b, T c) {
    return a * attn::sigmoid(c) + b * (1 - attn::sigmoid(c));
  }
};
struct Power {  // with one
  template <class T>
  static T value(T x) {
    return x * x * x;
  }
  template <class T>
  static T derivative(T x) {
    return 3 * x * x;
  }
};

}  // namespace

TEST_CASE("expression gradients: every function and broadcast matches finite differences") {
  const double any = -1, positive = 0.1;
  check_numerically<attn::functions::Negate, 1>(any);
  check_numerically<attn::functions::Exp, 1>(any);
  check_numerically<attn::functions::Log, 1>(positive);
  check_numerically<attn::functions::Sqrt, 1>(positive);
  check_numerically<attn::functions::Abs, 1>(any);
  check_numerically<attn::functions::Tanh, 1>(any);
  check_numerically<attn::functions::Sigmoid, 1>(any);
  check_numerically<attn::functions::Relu, 1>(any);
  check_numerically<attn::functions::Gelu, 1>(any);
  check_numerically<attn::functions::GeluExact, 1>(any);
  check_numerically<attn::functions::Silu, 1>(any);
  check_numerically<attn::functions::Softplus, 1>(any);
  check_numerically<attn::functions::Square, 1>(any);
  check_numerically<Power, 1>(any);
  check_numerically<attn::functions::Add, 2>(any);
  check_numerically<attn::functions::Subtract, 2>(any);
  check_numerically<attn::functions::Multiply, 2>(any);
  check_numerically<attn::functions::Divide, 2>(positive);
  check_numerically<attn::functions::Max, 2>(any);
  check_numerically<attn::functions::Min, 2>(any);
  check_numerically<attn::functions::Less, 2>(any);
  check_numerically<attn::functions::LessEqual, 2>(any);
  check_numerically<attn::functions::Greater, 2>(any);
  check_numerically<attn::functions::GreaterEqual, 2>(any);
  check_numerically<attn::functions::Where, 3>(any);
  check_numerically<Mixture, 3>(any);
}

TEST_CASE("expression gradients: every kind of leaf matches finite differences at any width") {
  Cpu<double> device(2);
  for (const Index rows : {1, 4})
    for (const Index cols : {1, 3, 8, 17, 64}) {
      CAPTURE(cols);
      for (const float rate : {0.0f, 0.4f}) {
        Operands<double> of(device, rows, cols);
        const attn::Dropout dropout{rate, attn::key_of_seed(6)};
        all_results(of, dropout);
        const auto loss = [&] { return dot(of.dy.read(), evaluated(device, all_kinds(of, dropout), rows, cols)); };
        check_gradient("a", of.a, of.da.read(), loss);
        check_gradient("b", of.b, of.db.read(), loss);
        check_gradient("row", of.row, of.drow.read(), loss);
        check_gradient("column", of.column, of.dcolumn.read(), loss);
      }
    }
}

TEST_CASE("expression gradients: overwrite or accumulate as the sinks specify") {
  Cpu<double> device(2);
  for (const Index cols : {5, 16}) {
    Operands<double> set(device, 6, cols), added(device, 6, cols, 2);
    differentiate(device, all_kinds(set), set.dy);
    differentiate(device, all_kinds(added, {}, true), added.dy);
    const auto plus_2 = [](const Numbers& numbers) { return sum_of(numbers, Numbers(numbers.size(), 2)); };
    CHECK(distance(added.da.read(), plus_2(set.da.read())) <= 1e-14);
    CHECK(distance(added.db.read(), plus_2(set.db.read())) <= 1e-14);
    CHECK(distance(added.dcolumn.read(), plus_2(set.dcolumn.read())) <= 1e-14);
    CHECK(added.outside_untouched());
    Numbers twice = set.drow.read();
    for (double& number : twice) number *= 2;
    differentiate(device, all_kinds(set), set.dy);
    CHECK(distance(set.drow.read(), twice) <= 1e-14);
  }
}

TEST_CASE("expression gradients: leaves with the same gradient sum their contributions") {
  Cpu<double> device(2);
  for (const bool first : {false, true})
    for (const bool second : {false, true}) {
      CAPTURE(first);
      CAPTURE(second);
      Operands<double> of(device, 4, 7, 100);
      // x x + r r + c c: a place is added to only if both of its leaves add.
      const auto expression = apply<attn::functions::Add>(
          apply<attn::functions::Multiply>(of.dense_a(first), of.dense_a(second)),
          apply<attn::functions::Add>(apply<attn::functions::Multiply>(of.vector(), of.vector()),
                                      apply<attn::functions::Multiply>(of.per_row(first), of.per_row(second))));
      differentiate(device, expression, of.dy);
      const double start = first && second ? 100 : 0;
      const Numbers a = of.a.read(), row = of.row.read(), column = of.column.read(), dy = of.dy.read();
      Numbers da(a.size()), drow(7, 0), dcolumn(4, start);
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 7; ++j) {
          da[i * 7 + j] = start + 2 * a[i * 7 + j] * dy[i * 7 + j];
          drow[j] += 2 * row[j] * dy[i * 7 + j];
          dcolumn[i] += 2 * column[i] * dy[i * 7 + j];
        }
      CHECK(distance(of.da.read(), da) <= 1e-13);
      CHECK(distance(of.drow.read(), drow) <= 1e-13);
      CHECK(distance(of.dcolumn.read(), dcolumn) <= 1e-13);
    }
}

TEST_CASE("expression gradients: an activation of width 1 may be a dense leaf and a column") {
  Cpu<double> device(1);
  for (const bool add : {false, true}) {
    Operands<double> of(device, 3, 1, 100);
    const auto expression = apply<attn::functions::Multiply>(of.per_row(add), Dense<double>{of.column, {of.dcolumn, add}});
    differentiate(device, expression, of.dy);
    Numbers expected = of.column.read();
    const Numbers dy = of.dy.read();
    for (std::size_t i = 0; i < 3; ++i) expected[i] = (add ? 100 : 0) + 2 * expected[i] * dy[i];
    CHECK(distance(of.dcolumn.read(), expected) <= 1e-13);
  }
}

TEST_CASE("expression gradients: untracked leaves get none and unreached leaves get 0") {
  Cpu<double> device(1);
  Operands<double> of(device, 3, 5), all(device, 3, 5);
  const auto expression = apply<attn::functions::Multiply>(
      apply<attn::functions::Exp>(Dense<double>{of.a, {}}),
      apply<attn::functions::Add>(of.dense_b(), apply<attn::functions::Multiply>(Row<double>{of.row.data(), nullptr},
                                                                                 Column<double>{of.column, {}})));
  differentiate(device, expression, of.dy);
  differentiate(device, apply<attn::functions::Multiply>(apply<attn::functions::Exp>(all.dense_a()), all.dense_b()),
                all.dy);
  CHECK(of.db.read() == all.db.read());
  CHECK(of.outside_untouched());
  CHECK(of.drow.read() == Numbers(5, 0));
  for (const double number : of.da.read()) CHECK(std::isnan(number));
  for (const double number : of.dcolumn.read()) CHECK(std::isnan(number));
  differentiate(device, apply<attn::functions::Less>(of.dense_a(), of.per_row()), of.dy);
  CHECK(of.da.read() == Numbers(15, 0));
  CHECK(of.dcolumn.read() == Numbers(3, 0));
}

TEST_CASE("expression gradients: padding columns with infinite derivatives do not affect a row sum") {
  Cpu<double> device(1);
  Operands<double> of(device, 2, 3);
  of.column.write({0.25, 4});
  of.dy.write({1, 2, 3, 4, 5, 6});
  differentiate(device, apply<attn::functions::Sqrt>(apply<attn::functions::Add>(of.per_row(), ScalarLeaf{0})), of.dy);
  CHECK(of.dcolumn.read() == Numbers{6, 3.75});
}
