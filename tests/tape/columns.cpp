#include "attn/tape/columns.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::concat;
using attn::Index;
using attn::slice;
using attn::split;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

/// 2 x², as a function of its own between slices, so that gradients flow in the order of a real backward pass.
Variable squared(Variable x) {
  Tape& tape = x.tape();
  const auto y = tape.result(x.rows(), x.cols(), x);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) y.value(i, j) = 2 * x.value(i, j) * x.value(i, j);
  tape.on_backward(y, [x](Tape& back, auto dy) {
    const auto dx = back.sink(x);
    for (Index i = 0; i < dy.rows; ++i)
      for (Index j = 0; j < dy.cols; ++j) dx.put(dx.to(i, j), 4 * x.value(i, j) * dy(i, j));
  });
  return y;
}

/// Makes the memory of gradients NaN, so that columns that nothing sets are noticed.
void spoil_gradients(Tape& tape) {
  const auto dirt = tape.scratch<double>(100, 100);
  std::fill_n(dirt.data, 10000, kUnset);
  tape.release(dirt);
}

/// Compares the gradient of x, 3 x 6, with differences. use(y) returns activations; the loss is a weighted sum of them. y
/// is x itself or computed from x.
template <class Use>
void check_slices(const std::string& name, const Use& use) {
  for (const bool computed : {false, true}) {
    CAPTURE(name);
    CAPTURE(computed);
    Device device(1);
    Tensor<Device> x(device, 3, 6, random_numbers(18, 1));
    const auto results = [&](Variable in) { return use(computed ? squared(in) : in); };
    const auto weights = [](Variable y, std::size_t i) { return random_numbers(y.rows() * y.cols(), 10 + i); };
    Tape tape(device, attn::TapeMode::gradients());
    spoil_gradients(tape);
    const auto in = input<6>(tape, x.read());
    const auto all = results(in);
    for (std::size_t i = 0; i < all.size(); ++i) contribute(tape, all[i], weights(all[i], i));
    tape.backward();
    check_gradient("x", x, gradient(tape, in), [&] {
      Tape again(device);
      const auto forward = results(input<6>(again, x.read()));
      double sum = 0;
      for (std::size_t i = 0; i < forward.size(); ++i) sum += dot(weights(forward[i], i), values(again, forward[i]));
      return sum;
    });
  }
}

}  // namespace

TEST_CASE("columns: slices have the requested widths and gradients are slices") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  const auto x = input<5>(tape, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const auto a = slice<0, 2>(x);
  const auto b = slice(x, 2, 1), c = slice(x, 3, 2);
  static_assert(decltype(a)::width == 2);
  CHECK(values(tape, a) == Numbers{1, 2, 6, 7});
  CHECK(values(tape, b) == Numbers{3, 8});
  CHECK(values(tape, c) == Numbers{4, 5, 9, 10});
  CHECK(c.value.data == x.value.data + 3);  // a view
  contribute(tape, c, {1, 2, 3, 4});
  contribute(tape, a, {5, 6, 7, 8});
  CHECK(gradient(tape, x) == Numbers{5, 6, 0, 1, 2, 7, 8, 0, 3, 4});  // nothing depends on b
  CHECK(c.slot->gradient.data == x.slot->gradient.data + 3);
}

TEST_CASE("columns: gradients of slices match finite differences for any cover of the columns") {
  check_slices("all columns", [](Variable x) { return std::vector{squared(slice(x, 0, 2)), squared(slice(x, 2, 4))}; });
  check_slices("the first columns", [](Variable x) { return std::vector{squared(slice(x, 0, 2))}; });
  check_slices("the last columns", [](Variable x) { return std::vector{squared(slice(x, 5, 1))}; });
  check_slices("columns in the middle", [](Variable x) { return std::vector{squared(slice(x, 2, 2))}; });
  check_slices("with gaps, out of order", [](Variable x) {
    return std::vector{squared(slice(x, 4, 1)), squared(slice(x, 1, 2))};
  });
  check_slices("a slice that is not used, and gaps", [](Variable x) {
    slice(x, 3, 1);
    return std::vector{squared(slice(x, 1, 1))};
  });
  check_slices("all columns as one slice", [](Variable x) { return std::vector{squared(slice(x, 0, 6))}; });
}

TEST_CASE("columns: gradients of overlapping slices match finite differences") {
  check_slices("overlapping", [](Variable x) { return std::vector{squared(slice(x, 0, 4)), squared(slice(x, 2, 4))}; });
  check_slices("one within another", [](Variable x) {
    return std::vector{squared(slice(x, 3, 1)), squared(slice(x, 1, 4))};
  });
  check_slices("three over one column", [](Variable x) {
    return std::vector{squared(slice(x, 0, 3)), squared(slice(x, 2, 1)), squared(slice(x, 2, 3))};
  });
  check_slices("only the overlapping one is used", [](Variable x) {
    slice(x, 0, 4);
    return std::vector{squared(slice(x, 2, 3))};
  });
  check_slices("split in two ways", [](Variable x) {
    const auto [a, b] = split<2>(x);
    const auto [c, d, e] = split<3>(x);
    return std::vector{squared(e), squared(a), squared(d), squared(b), squared(c)};
  });
}

TEST_CASE("columns: gradients of nested slices match finite differences with or without the outer slice") {
  check_slices("a slice of a slice", [](Variable x) { return std::vector{squared(slice(slice(x, 1, 4), 1, 2))}; });
  check_slices("and the slice", [](Variable x) {
    const auto middle = slice(x, 1, 4);
    return std::vector{squared(slice(middle, 1, 2)), squared(middle), squared(slice(middle, 3, 1))};
  });
  check_slices("and the whole", [](Variable x) {
    const auto middle = slice(x, 1, 4);
    return std::vector{squared(x), squared(slice(slice(middle, 0, 3), 2, 1)), squared(slice(x, 5, 1))};
  });
  check_slices("a split of a split", [](Variable x) {
    const auto [left, right] = split<2>(x);
    const auto [a, b, c] = split<3>(right);
    return std::vector{squared(c), squared(left), squared(a)};
  });
}

TEST_CASE("columns: gradients of repeated slices match finite differences even beside the whole") {
  check_slices("twice", [](Variable x) { return std::vector{squared(slice(x, 1, 2)), squared(slice(x, 1, 2))}; });
  check_slices("one, used twice", [](Variable x) {
    const auto part = slice(x, 3, 2);
    return std::vector{squared(part), squared(part)};
  });
  check_slices("the whole, before", [](Variable x) { return std::vector{squared(x), squared(slice(x, 1, 2))}; });
  check_slices("the whole, after", [](Variable x) { return std::vector{squared(slice(x, 1, 2)), squared(x)}; });
  check_slices("the whole, between", [](Variable x) {
    const auto first = squared(slice(x, 1, 2));
    const auto whole = squared(x);
    return std::vector{first, whole, squared(slice(x, 1, 2)), squared(slice(x, 2, 4))};
  });
}

TEST_CASE("columns: slices of an activation without gradient have none") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  double numbers[] = {1, 2, 3, 4};
  const auto x = tape.constant({numbers, 1, 4});
  CHECK(slice(x, 1, 2).slot == nullptr);
  CHECK(split<2>(x)[1].slot == nullptr);
  CHECK(&slice(x, 1, 2).tape() == &tape);
}

TEST_CASE("columns: errors name missing columns and widths that do not divide") {
  Device device(1);
  Tape tape(device);
  const Variable x = input<5>(tape, Numbers(5, 1));
  CHECK(contains(error_of([&] { slice(x, 3, 3); }), "columns 3 to 6 do not exist: the activation has 5"));
  CHECK(contains(error_of([&] { slice(x, -1, 2); }), "columns -1 to 1"));
  CHECK(contains(error_of([&] { split<2>(x); }), "5 columns cannot be split into 2 equal slices"));
}

TEST_CASE("concat: joins activations by columns and splits the gradient") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  const auto a = input<2>(tape, {1, 2, 3, 4});
  const auto b = input<1>(tape, {5, 6});
  const auto y = concat(a, b, a);
  static_assert(decltype(y)::width == 5);
  CHECK(values(tape, y) == Numbers{1, 2, 5, 1, 2, 3, 4, 6, 3, 4});
  contribute(tape, y, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  tape.backward();
  CHECK(gradient(tape, a) == Numbers{1 + 4, 2 + 5, 6 + 9, 7 + 10});
  CHECK(gradient(tape, b) == Numbers{3, 8});
  const auto shorter = input<1>(tape, {1});
  CHECK(contains(error_of([&] { concat(a, shorter); }), "activations of 2 and 1 rows"));
}

TEST_CASE("concat: parts with and without gradients of any width get the right gradients") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  double numbers[] = {9, 8, 7, 6};
  const auto a = input<1>(tape, {1, 2}), d = input<1>(tape, {3, 4});
  const Variable constant = tape.constant({numbers, 2, 2}), b = input<2>(tape, {10, 11, 12, 13});
  const auto y = concat(a, constant, b, d);
  static_assert(decltype(y)::width == attn::dynamic);
  REQUIRE(y.cols() == 6);
  CHECK(values(tape, y) == Numbers{1, 9, 8, 10, 11, 3, 2, 7, 6, 12, 13, 4});
  contribute(tape, y, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  tape.backward();
  CHECK(gradient(tape, a) == Numbers{1, 7});
  CHECK(gradient(tape, b) == Numbers{4, 5, 10, 11});
  CHECK(gradient(tape, d) == Numbers{6, 12});
  CHECK(concat(constant, constant, constant).slot == nullptr);
  CHECK(values(tape, concat(constant)) == Numbers{9, 8, 7, 6});
  CHECK(values(tape, concat(std::vector{constant, constant})) == Numbers{9, 8, 9, 8, 7, 6, 7, 6});
  CHECK(contains(error_of([] { concat(std::vector<Variable>{}); }), "concat: no activations"));
}

TEST_CASE("concat: of slices and slices of it have gradients that match finite differences") {
  check_slices("concat", [](Variable x) {
    const auto y = concat(slice(x, 3, 3), x, slice(x, 0, 1));
    return std::vector{squared(slice(y, 2, 5)), squared(slice(y, 9, 1)), squared(slice(y, 0, 3))};
  });
}
