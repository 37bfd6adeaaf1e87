#include "attn/ops/lstm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <class T>
struct Cell {
  using D = Cpu<T>;
  Index rows, in, width;
  D& device;
  std::vector<std::int32_t> numbers = std::vector<std::int32_t>(static_cast<std::size_t>(rows) + 1);
  Tensor<D> x{device, rows, in, random_numbers(rows*in, 1)},
      input{device, 4 * width, in, random_numbers(4 * width * in, 2)},
      bias{device, 1, 4 * width, random_numbers(4 * width, 3)},
      recurrent{device, 4 * width, width, random_numbers(4 * width * width, 4)},
      h0{device, rows, width, random_numbers(rows*width, 5), 2}, c0{device, rows, width, random_numbers(rows*width, 6), 1};
  Tensor<D> gates{device, rows, 4 * width}, c{device, rows, width}, previous{device, rows, width};
  Tensor<D> h{device, rows, width, kUnset, 3}, last_h{device, rows, width, kUnset, 3},
      last_c{device, rows, width, kUnset, 3};

  void run(bool states) {
    std::iota(numbers.begin(), numbers.end(), 0);
    attn::LstmCellArgs<D> args{.x = x,
                               .input = input,
                               .bias = bias.data(),
                               .step = {.gates = gates,
                                        .rows = {numbers.data(), numbers.data() + 1, rows, rows, rows > 0 ? 1 : 0},
                                        .order = numbers.data(),
                                        .recurrent = recurrent,
                                        .keep = false,
                                        .h = h,
                                        .c = c,
                                        .previous = previous,
                                        .last_h = last_h,
                                        .last_c = last_c}};
    if (states) args.step.h0 = h0, args.step.c0 = c0;
    lstm_cell(device, args);
    for (const auto* result : {&h, &last_h, &last_c}) CHECK(result->outside_untouched());
  }
};

}  // namespace

TEST_CASE_TEMPLATE("lstm_cell: one unit matches the formula", T, float, double) {
  Cpu<T> device(1);
  Cell<T> cell{1, 2, 1, device};
  cell.x.write({0.5, -1});
  cell.input.write({1, 0, 0, 1, 2, 1, -1, 3});
  cell.bias.write({0.1, 0.2, 0.3, 0.4});
  cell.recurrent.write({1, -1, 0.5, 2});
  cell.h0.write({0.25});
  cell.c0.write({-0.5});
  const double tolerance = sizeof(T) == 8 ? 1e-15 : 2e-7;
  const auto check = [&](double h, double c) {
    const double i = sigmoid(0.5 + 0.1 + h), f = sigmoid(-1 + 0.2 - h), g = std::tanh(0 + 0.3 + 0.5 * h),
                 o = sigmoid(-3.5 + 0.4 + 2 * h), after = f * c + i * g;
    CHECK(cell.last_c.read()[0] == doctest::Approx(after).epsilon(tolerance));
    CHECK(cell.h.read()[0] == doctest::Approx(o * std::tanh(after)).epsilon(tolerance));
    CHECK(cell.last_h.read() == cell.h.read());
  };
  cell.run(true);
  check(0.25, -0.5);
  cell.run(false);
  check(0, 0);
}

TEST_CASE("lstm_cell: a row does not depend on the others and no rows are accepted") {
  Cpu<float> device(2);
  Cell<float> all{33, 20, 12, device};
  all.run(true);
  const Numbers h = all.h.read(), c = all.last_c.read();
  for (const Index row : {0, 7, 32}) {
    Cell<float> alone{1, 20, 12, device};
    const auto cut = [&](const Tensor<Cpu<float>>& from, Index width) {
      const Numbers numbers = from.read();
      return Numbers(numbers.begin() + row * width, numbers.begin() + (row + 1) * width);
    };
    alone.x.write(cut(all.x, 20));
    alone.h0.write(cut(all.h0, 12));
    alone.c0.write(cut(all.c0, 12));
    alone.run(true);
    CHECK(alone.h.read() == Numbers(h.begin() + row * 12, h.begin() + (row + 1) * 12));
    CHECK(alone.last_c.read() == Numbers(c.begin() + row * 12, c.begin() + (row + 1) * 12));
  }
  Cell<float>{0, 4, 4, device}.run(true);
}
