#include "attn/ops/expression.hpp"

#include <doctest/doctest.h>

#include "support/expression_op.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;
using attn::ScalarLeaf;
using namespace expression_op;

TEST_CASE_TEMPLATE("evaluate: a sum with a learned gain and its gradients match known values", T, float, double) {
  Cpu<T> device(2);
  Operands<T> of(device, 2, 3);
  of.a.write({1, 2, 3, 4, 5, 6});
  of.b.write({1, -1, 2, 3, 0, 1});
  of.row.write({2, 3, 4});
  of.dy.write({1, 1, 1, 2, 2, 2});
  of.drow.write({10, 20, 30});  // accumulates
  const auto expression =
      apply<attn::functions::Add>(of.dense_a(), apply<attn::functions::Multiply>(of.vector(), of.dense_b()));
  CHECK(evaluated(device, expression, 2, 3) == Numbers{3, -1, 11, 10, 5, 10});
  differentiate(device, expression, of.dy);
  CHECK(of.da.read() == Numbers{1, 1, 1, 2, 2, 2});
  CHECK(of.db.read() == Numbers{2, 3, 4, 4, 6, 8});
  CHECK(of.drow.read() == Numbers{17, 19, 34});
}

TEST_CASE_TEMPLATE("evaluate: one value per row and its gradient match known values", T, float, double) {
  Cpu<T> device(2);
  Operands<T> of(device, 2, 3);
  of.a.write({1, 2, 3, 4, 5, 6});
  of.column.write({2, -1});
  of.dy.write({1, 1, 1, 2, 2, 2});
  const auto expression = apply<attn::functions::Multiply>(of.dense_a(), of.per_row());
  CHECK(evaluated(device, expression, 2, 3) == Numbers{2, 4, 6, -4, -5, -6});
  differentiate(device, expression, of.dy);
  CHECK(of.da.read() == Numbers{2, 2, 2, -2, -2, -2});
  CHECK(of.dcolumn.read() == Numbers{6, 30});
}

TEST_CASE("evaluate: a single leaf is copied") {
  Cpu<double> device(1);
  Operands<double> of(device, 3, 5);
  CHECK(evaluated(device, of.dense_a(), 3, 5) == of.a.read());
  differentiate(device, of.dense_a(), of.dy);
  CHECK(of.da.read() == of.dy.read());
  CHECK(evaluated(device, ScalarLeaf{1.5}, 1, 2) == Numbers{1.5, 1.5});
}

TEST_CASE("evaluate: no rows give nothing and leave gradients of vectors unchanged") {
  Cpu<double> device(2);
  Operands<double> of(device, 0, 5);
  of.drow.write(Numbers(5, 3));
  CHECK(all_results(of) == Numbers(5, 3));
}

TEST_CASE_TEMPLATE("evaluate: the result may replace an operand", T, float, double) {
  Cpu<T> device(2);
  for (const Index cols : {3, 64}) {
    Operands<T> of(device, 20, cols);
    const auto expression = all_kinds(of);
    const Numbers apart = evaluated(device, expression, 20, cols);
    evaluate_expression(device, attn::ExpressionArgs<Cpu<T>, std::remove_const_t<decltype(expression)>>{expression, of.a});
    CHECK(of.a.read() == apart);
  }
}

TEST_CASE_TEMPLATE("evaluate: a dropout leaf uses the mask of the dropout op", T, float, double) {
  Cpu<T> device(2);
  for (const Index cols : {3, 64}) {
    Operands<T> of(device, 9, cols);
    const attn::Dropout rule{0.3f, attn::key_of_seed(7)};
    const Tensor<Cpu<T>> y(device, 9, cols), dx(device, 9, cols);
    dropout(device, attn::DropoutArgs<Cpu<T>>{of.a, {y}, rule});
    dropout(device, attn::DropoutArgs<Cpu<T>>{of.dy, {dx}, rule});
    const auto expression = apply<attn::functions::Multiply>(of.dense_a(), attn::DropoutLeaf{rule});
    CHECK(evaluated(device, expression, 9, cols) == y.read());
    differentiate(device, expression, of.dy);
    CHECK(of.da.read() == dx.read());
    CHECK(evaluated(device, apply<attn::functions::Multiply>(of.dense_a(), attn::DropoutLeaf{}), 9, cols) == of.a.read());
  }
}

TEST_CASE("evaluate: float results are close to double results") {
  Cpu<float> device(2);
  Cpu<double> exact(2);
  for (const Index cols : {3, 17, 64}) {
    Operands<float> of(device, 40, cols);
    Operands<double> truth(exact, 40, cols);
    const attn::Dropout dropout{0.25f, attn::key_of_seed(8)};
    CHECK(distance(all_results(of, dropout), all_results(truth, dropout)) <= 2e-5);
  }
}

TEST_CASE_TEMPLATE("evaluate: a column does not depend on the width", T, float, double) {
  Cpu<T> device(1);
  Operands<T> of(device, 3, 33);
  const auto narrow = [&](Index cols) {
    const attn::Matrix<const T> a = of.a.view().columns(0, cols);
    return evaluated(device, apply<attn::functions::Gelu>(apply<attn::functions::Exp>(Dense<T>{a, {}})), 3, cols);
  };
  const Numbers wide = narrow(33), one = narrow(1), few = narrow(5);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(one[i] == wide[i * 33]);
    for (std::size_t j = 0; j < 5; ++j) CHECK(few[i * 5 + j] == wide[i * 33 + j]);
  }
}

TEST_CASE_TEMPLATE("evaluate: results do not depend on the number of threads", T, float, double) {
  for (const Index rows : {1, 101, 2000})
    check_threads<T>([&](Cpu<T>& device) {
      Operands<T> of(device, rows, 33);
      return all_results(of, {0.2f, attn::key_of_seed(9)});
    });
}
