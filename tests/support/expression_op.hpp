#pragma once
#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

namespace expression_op {

template <class F, class... E>
attn::Apply<F, E...> apply(const E&... of) {
  return {{of...}};
}

template <class T>
using Dense = attn::DenseLeaf<T>;
template <class T>
using Row = attn::RowLeaf<T, T>;
template <class T>
using Column = attn::ColumnLeaf<T>;

template <class T, class E>
Numbers evaluated(attn::Cpu<T>& device, const E& expression, attn::Index rows, attn::Index cols, attn::Index gap = 2) {
  const Tensor<attn::Cpu<T>> y(device, rows, cols, kUnset, gap);
  evaluate_expression(device, attn::ExpressionArgs<attn::Cpu<T>, E>{expression, y});
  CHECK(y.outside_untouched());
  return y.read();
}
template <class T, class E>
void differentiate(attn::Cpu<T>& device, const E& expression, const Tensor<attn::Cpu<T>>& dy) {
  evaluate_expression_gradient(device, attn::ExpressionGradientArgs<attn::Cpu<T>, E>{expression, dy});
}

/// Operands for every kind of leaf, and tensors for their gradients.
template <class T>
struct Operands {
  using Device = attn::Cpu<T>;
  Device& device;
  attn::Index rows, cols;
  Tensor<Device> a, b, row, column, dy, da, db, drow, dcolumn;

  Operands(Device& on, attn::Index row_count, attn::Index width, double start = kUnset, double low = -1)
      : device(on),
        rows(row_count),
        cols(width),
        a(on, rows, cols, numbers(rows * cols, 1, low), 1),
        b(on, rows, cols, numbers(rows * cols, 2, low), 3),
        row(on, 1, cols, numbers(cols, 3, low)),
        column(on, rows, 1, numbers(rows, 4, low), 2),
        dy(on, rows, cols, random_numbers(rows * cols, 5), 1),
        da(on, rows, cols, start, 2),
        db(on, rows, cols, start, 1),
        drow(on, 1, cols, 0.0),
        dcolumn(on, rows, 1, start, 1) {}

  Dense<T> dense_a(bool add = false) const { return {a, {da, add}}; }
  Dense<T> dense_b(bool add = false) const { return {b, {db, add}}; }
  Row<T> vector() const { return {row.data(), drow.data()}; }
  Column<T> per_row(bool add = false) const { return {column, {dcolumn, add}}; }

  static Numbers numbers(attn::Index count, std::uint64_t seed, double low) {
    Numbers result = random_numbers(count, seed);
    for (double& number : result) number = low + (1 - low) * (number + 1) / 2;
    return result;
  }
  bool outside_untouched() const {
    return da.outside_untouched() && db.outside_untouched() && drow.outside_untouched() && dcolumn.outside_untouched();
  }
};

/// An expression with every kind of leaf: (a b + row) sigmoid(column) + 0.5 b, with dropout.
template <class T>
auto all_kinds(const Operands<T>& of, attn::Dropout dropout = {}, bool add = false) {
  const auto product =
      apply<attn::functions::Add>(apply<attn::functions::Multiply>(of.dense_a(add), of.dense_b(add)), of.vector());
  const auto gated = apply<attn::functions::Multiply>(product, apply<attn::functions::Sigmoid>(of.per_row(add)));
  const auto sum = apply<attn::functions::Add>(
      gated, apply<attn::functions::Multiply>(attn::ScalarLeaf{0.5}, Dense<T>{of.b, {of.db, add}}));
  return apply<attn::functions::Multiply>(sum, attn::DropoutLeaf{dropout});
}
template <class T>
Numbers all_results(Operands<T>& of, attn::Dropout dropout = {}) {
  const auto expression = all_kinds(of, dropout);
  const Numbers y = evaluated(of.device, expression, of.rows, of.cols);
  differentiate(of.device, expression, of.dy);
  CHECK(of.outside_untouched());
  return joined({y, of.da.read(), of.db.read(), of.drow.read(), of.dcolumn.read()});
}

}  // namespace expression_op
