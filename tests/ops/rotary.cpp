#include "attn/ops/embedding.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// Rotary position embedding of `heads` heads of `width` columns.
template <class T>
struct Rotary {
  Cpu<T>& device;
  Layout<Cpu<T>> rows;
  Tensor<Cpu<T>> x, dy, table;
  Index first_position = 0;
  const std::int32_t* first_positions = nullptr;

  Rotary(Cpu<T>& on, const std::vector<std::int32_t>& lengths, Index heads, Index width, std::int32_t spare = 0)
      : device(on),
        rows(on, lengths, spare),
        x(on, rows.rows(), heads * width, random_numbers(rows.rows() * heads * width, 1), 2),
        dy(on, rows.rows(), heads * width, random_numbers(rows.rows() * heads * width, 2), 1),
        table(on, 200, width, 0.0) {
    sinusoid(device, table.view(), attn::SinusoidOrder::halves);
  }

  Numbers turned(const Tensor<Cpu<T>>& from, bool inverse = false, bool add = false, double start = 9) {
    const Tensor<Cpu<T>> y(device, from.rows(), from.cols(), start, 3);
    turn(from, inverse, {y, add});
    CHECK(y.outside_untouched());
    return y.read();
  }
  void turn(const Tensor<Cpu<T>>& from, bool inverse, attn::Sink<T> to) {
    rotary(device, {.x = from,
                    .rows = rows,
                    .table = table,
                    .first_position = first_position,
                    .first_positions = first_positions,
                    .inverse = inverse,
                    .y = to});
  }
};

}  // namespace

TEST_CASE_TEMPLATE("rotary: rotates the first pair by the position and the second by a hundredth of it", T, float, double) {
  Cpu<T> device(2);
  Rotary<T> op(device, {3}, 1, 4);
  op.x.write({1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1});
  Numbers expected;
  for (const double p : {0, 1, 2}) expected.insert(expected.end(), {cos(p), -sin(p / 100), sin(p), cos(p / 100)});
  CHECK(distance(op.turned(op.x), expected) <= (sizeof(T) == 4 ? 1e-6 : 1e-14));
}

TEST_CASE_TEMPLATE("rotary: equals apply_rotary_pos_emb of transformers at positions 5 to 7", T, float, double) {
  // x = (torch.arange(24.0) - 11).view(1, 3, 2, 4).transpose(1, 2) / 8
  // angles = torch.arange(5, 8)[:, None] * 10000 ** (-torch.arange(0, 4, 2) / 4)
  // angles = torch.cat([angles, angles], -1)[None]
  // y, _ = transformers.models.llama.modeling_llama.apply_rotary_pos_emb(x, x, angles.cos(), angles.sin())
  // print(y.transpose(1, 2))
  Cpu<T> device(1);
  Rotary<T> op(device, {3}, 2, 4);
  Numbers x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<double>(i) - 11) / 8;
  op.x.write(x);
  op.first_position = 5;
  const Numbers expected{-1.46882531401,   -1.19845865622,   0.999400919016, -1.06122422198,  -0.847532083945,
                         -0.724073110661,  0.661769874416,   -0.53685950715, -0.394990794769, -0.249550134984,
                         -0.0152404740067, -0.0149910016199, 0.224802097656, 0.219568131744,  0.325136920219,
                         0.514091271587,   -0.103674364914,  0.678220402852, 1.07028109675,   1.05000813576,
                         -0.0552165371021, 1.14202447931,    1.77572552328,  1.58375505955};
  CHECK(distance(op.turned(op.x), expected) <= (sizeof(T) == 4 ? 2e-6 : 1e-11));
}

TEST_CASE("rotary: the inverse rotates back and scores depend only on distances") {
  Cpu<double> device(2);
  Rotary<double> op(device, {4, 0, 7}, 3, 6);
  const Tensor<Cpu<double>> turned(device, op.x.rows(), op.x.cols(), op.turned(op.x));
  CHECK(distance(op.turned(turned, true), op.x.read()) <= 1e-14);
  const auto score = [&](Index first) {  // of rows 1 and 3 of the first sentence
    op.first_position = first;
    const Numbers y = op.turned(op.x);
    double sum = 0;
    for (std::size_t j = 0; j < 18; ++j) sum += y[18 + j] * y[3 * 18 + j];
    return sum;
  };
  CHECK(score(0) == doctest::Approx(score(90)).epsilon(1e-12));
}

TEST_CASE("rotary: each sentence has its own start and rows outside sentences are unchanged") {
  Cpu<double> device(2);
  Rotary<double> op(device, {2, 0, 3}, 2, 4, 1);  // rows 2, 3 and 7 are outside
  const Integers<Cpu<double>> positions(device, {40, 7, 3});
  op.first_positions = positions.data();
  const Numbers y = op.turned(op.x);
  op.first_positions = nullptr;
  const auto row = [](const Numbers& numbers, Index i) {
    return Numbers(numbers.begin() + i * 8, numbers.begin() + (i + 1) * 8);
  };
  op.first_position = 40;
  for (const Index i : {0, 1}) CHECK(same_bits(row(y, i), row(op.turned(op.x), i)));
  op.first_position = 3;
  for (const Index i : {4, 5, 6}) CHECK(same_bits(row(y, i), row(op.turned(op.x), i)));
  for (const Index i : {2, 3, 7}) CHECK(row(y, i) == Numbers(8, 9));
  for (const Index i : {2, 3, 7}) CHECK(row(op.turned(op.x, false, true, 5), i) == Numbers(8, 5));
}

TEST_CASE("rotary: the gradient is the inverse rotation and matches finite differences") {
  Cpu<double> device(2);
  for (const Index heads : {1, 3})
    for (const Index width : {2, 6, 16}) {
      Rotary<double> op(device, {1, 0, 4}, heads, width);
      op.first_position = 11;
      check_gradient("x", op.x, op.turned(op.dy, true), [&] { return dot(op.dy.read(), op.turned(op.x)); });
    }
}

TEST_CASE_TEMPLATE("rotary: overwrites or accumulates and works in place", T, float, double) {
  Cpu<T> device(2);
  Rotary<T> op(device, {3, 2}, 2, 6);
  const Numbers y = op.turned(op.x);
  CHECK(distance(op.turned(op.x, false, true, 2), sum_of(y, Numbers(y.size(), 2))) <= (sizeof(T) == 4 ? 1e-6 : 1e-14));
  op.turn(op.x, false, {op.x});
  CHECK(same_bits(op.x.read(), y));
  CHECK(op.x.outside_untouched());
}

TEST_CASE_TEMPLATE("rotary: results do not depend on the number of threads", T, float, double) {
  check_threads<T>([&](Cpu<T>& device) {
    Rotary<T> op(device, {30, 7, 0, 61, 1}, 3, 10);
    return joined({op.turned(op.x), op.turned(op.dy, true)});
  });
}

TEST_CASE("rotary: accepts no sentences") {
  Cpu<double> device(2);
  Rotary<double> op(device, {}, 2, 4);
  CHECK(op.turned(op.x).empty());
}
