#include "attn/tape/reductions.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/embedding.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::Index;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

/// Checks the gradient of y = function(x), x of rows x 4, as the first contribution to the gradient of x and as a later one.
template <class Function>
void check(const char* name, Index rows, const Function& function) {
  for (const bool later : {false, true}) {
    CAPTURE(name);
    CAPTURE(later);
    Device device(2);
    Tensor<Device> x(device, rows, 4, random_numbers(rows * 4, 1, 2));
    const Numbers more = later ? random_numbers(rows * 4, 3) : Numbers(static_cast<std::size_t>(rows * 4), 0);
    Tape tape(device, attn::TapeMode::gradients());
    const auto in = input<4>(tape, x.read());
    const Variable y = function(in);
    const Numbers dy = random_numbers(y.rows() * y.cols(), 2);
    contribute(tape, y, dy);
    if (later) contribute<Device>(tape, in, more);
    tape.backward();
    check_gradient("x", x, gradient<Device>(tape, in), [&] {
      Tape again(device);
      const Variable z = function(input<4>(again, x.read()));
      return dot(dy, values(again, z)) + dot(more, x.read());
    });
  }
}

}  // namespace

TEST_CASE("reductions: softmax and log_softmax values and gradients match PyTorch") {
  // s = torch.tensor([[0.5, -1, 2, 0], [1.5, 0.25, -0.5, 1], [-2, 3, 0.75, -1]], requires_grad=True)
  // w = torch.tensor([[1.0, 2, 3, 4]])
  // for y in F.softmax(s, -1), F.log_softmax(s, -1): print(y, torch.autograd.grad((y * w).sum(), s))
  const Numbers x{0.5, -1, 2, 0, 1.5, 0.25, -0.5, 1, -2, 3, 0.75, -1};
  const Numbers softmax_values{0.158444709515,   0.0353537934087, 0.710099922886,  0.0961015741901,
                               0.493006520146,   0.141248732905,  0.0667211770415, 0.299023569907,
                               0.00596039652147, 0.884601277255,  0.0932362886691, 0.0162020375547};
  const Numbers softmax_gradients{-0.276305131563,   -0.0262982148467, 0.181886157568,  0.120717188841,
                                  -0.577686205836,   -0.0242611361467, 0.0552610277943, 0.546686314188,
                                  -0.00667373658199, -0.105869051897,  0.082077772694,  0.0304650157854};
  const Numbers log_values{-1.84234958239,  -3.34234958239,  -0.34234958239, -2.34234958239,
                           -0.707232879578, -1.95723287958,  -2.70723287958, -1.20723287958,
                           -5.12261826967,  -0.122618269671, -2.37261826967, -4.12261826967};
  const Numbers log_gradients{-0.58444709515, 1.64646206591, -4.10099922886, 3.0389842581,   -3.93006520146, 0.587512670947,
                              2.33278822959,  1.00976430093, 0.940396034785, -6.84601277255, 2.06763711331,  3.83797962445};
  for (const bool log : {false, true}) {
    Device device(1);
    Tape tape(device, attn::TapeMode::gradients());
    const auto in = input<4>(tape, x);
    const Variable y = log ? log_softmax(in) : softmax(in);
    CHECK(distance(values(tape, y), log ? log_values : softmax_values) <= 1e-11);
    contribute(tape, y, {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
    tape.backward();
    CHECK(distance(gradient<Device>(tape, in), log ? log_gradients : softmax_gradients) <= 1e-10);
  }
}

TEST_CASE("reductions: values over columns and rows") {
  Device device(1);
  Tape tape(device);
  const Layout<Device> rows(device, {2, 0, 1});
  const auto x = input<2>(tape, {1, 4, -3, 8, 5, -6});
  CHECK(values<Device>(tape, sum_columns(x)) == Numbers{5, 5, -1});
  CHECK(values<Device>(tape, mean_columns(x)) == Numbers{2.5, 2.5, -0.5});
  CHECK(values<Device>(tape, max_columns(x)) == Numbers{4, 8, 5});
  CHECK(values<Device>(tape, sum_rows(x, rows)) == Numbers{-2, 12, 0, 0, 5, -6});
  CHECK(values<Device>(tape, mean_rows(x, rows)) == Numbers{-1, 6, 0, 0, 5, -6});
  CHECK(values<Device>(tape, max_rows(x, rows)) == Numbers{1, 8, 0, 0, 5, -6});
  CHECK(values<Device>(tape, first_rows(x, rows)) == Numbers{1, 4, 0, 0, 5, -6});
  CHECK(values<Device>(tape, last_rows(x, rows)) == Numbers{-3, 8, 0, 0, 5, -6});
  CHECK(values<Device>(tape, repeat_rows(x, rows)) == Numbers{1, 4, 1, 4, 5, -6});
}

TEST_CASE("reductions: gradients match finite differences and accumulate") {
  Device device(1);
  const Layout<Device> rows(device, {3, 0, 1, 5}), five(device, {2, 1, 0, 3, 1});
  check("softmax", 3, [](auto x) { return softmax(x); });
  check("log_softmax", 3, [](auto x) { return log_softmax(x); });
  check("sum_columns", 3, [](auto x) { return sum_columns(x); });
  check("mean_columns", 3, [](auto x) { return mean_columns(x); });
  check("max_columns", 3, [](auto x) { return max_columns(x); });
  check("sum_rows", 9, [&](auto x) { return sum_rows(x, rows); });
  check("mean_rows", 9, [&](auto x) { return mean_rows(x, rows); });
  check("max_rows", 9, [&](auto x) { return max_rows(x, rows); });
  check("first_rows", 9, [&](auto x) { return first_rows(x, rows); });
  check("last_rows", 9, [&](auto x) { return last_rows(x, rows); });
  check("repeat_rows", 5, [&](auto x) { return repeat_rows(x, five); });
  check("repeat_rows of one row", 1, [](auto x) { return repeat_rows(x, 3); });
}

TEST_CASE("reductions: compose with expressions into a manual layer norm") {
  const auto norm = [](auto x) {
    const Variable centred = x - mean_columns(x);
    return Variable(centred / sqrt(mean_columns(square(centred)) + 1e-5));
  };
  check("layer norm", 5, norm);
  check("softmax by hand", 5, [](auto x) {
    const Variable powers = exp(x - max_columns(x));
    return Variable(powers / sum_columns(powers));
  });
  Device device(1);
  Tape tape(device);
  const auto x = input<4>(tape, random_numbers(12, 1));
  const Variable powers = exp(x - max_columns(x));
  CHECK(distance(values<Device>(tape, powers / sum_columns(powers)), values<Device>(tape, softmax(x))) <= 1e-15);
}

TEST_CASE("reductions: pooling and broadcasting back subtracts the sentence mean") {
  Device device(1);
  const Layout<Device> rows(device, {3, 0, 1, 5});
  check("centred sentences", 9, [&](auto x) { return Variable(x - repeat_rows(mean_rows(x, rows), rows)); });
}

TEST_CASE("reductions: the rows of another text are an error") {
  Device device(1);
  Tape tape(device);
  const attn::Ragged rows = upload(tape, attn::Sentences{{1, 2, 3}, {4, 5}}).rows;
  const Variable x = input<2>(tape, {1, 2, 3, 4, 5, 6});
  const std::string wrong = ": the activation has 3 rows, but the text has 5. Pass the rows of the activation's own text.";
  CHECK(error_of([&] { mean_rows(x, rows); }) == "pooling" + wrong);
  CHECK(error_of([&] { softmax(x, rows, rows); }) == "softmax" + wrong);
}

TEST_CASE("repeat_rows: takes one row per sentence") {
  Device device(1);
  Tape tape(device);
  const Layout<Device> rows(device, {2, 1});
  const auto x = input<2>(tape, {1, 2, 3, 4, 5, 6});
  CHECK(contains(error_of([&] { repeat_rows(x, rows); }), "3 rows for 2 sentences. Pass one row per sentence."));
  CHECK(contains(error_of([&] { repeat_rows(x, 4); }), "repeat_rows: 3 rows, but only a single row can be repeated"));
}

TEST_CASE("repeat_rows: makes a column of a learned scalar") {
  Device device(1);
  Tape tape(device, attn::TapeMode::gradients());
  TestParameter<Device> scalar(device, 1, 1, 1);
  const Variable x = input<2>(tape, {1, 2, 3, 4, 5, 6});
  const attn::Variable<Device, 1> column = repeat_rows(variable(tape, scalar), x.rows());
  const Variable y = column * x;
  const double s = scalar.numbers.read()[0];
  CHECK(values(tape, y) == Numbers{s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s});
  contribute(tape, y, {1, 1, 1, 1, 1, 1});
  tape.backward();
  CHECK(scalar.gradients.read() == Numbers{21});
}
