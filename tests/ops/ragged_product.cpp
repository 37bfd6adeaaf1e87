#include "attn/ops/ragged_product.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// Products of the rows a and b of each sentence; `w` has the shape of their scores.
template <class T>
struct RaggedProduct {
  Cpu<T>& device;
  Layout<Cpu<T>> a_rows, b_rows;
  Tensor<Cpu<T>> a, b, w;
  double scale = 0.5;

  RaggedProduct(Cpu<T>& on, const std::vector<std::int32_t>& a_lengths, const std::vector<std::int32_t>& b_lengths,
                Index width, std::int32_t spare = 0)
      : device(on),
        a_rows(on, a_lengths, spare),
        b_rows(on, b_lengths, spare),
        a(on, a_rows.rows(), width, random_numbers(a_rows.rows() * width, 1), 2),
        b(on, b_rows.rows(), width, random_numbers(b_rows.rows() * width, 2), 1),
        w(on, a_rows.rows(), attn::Ragged(b_rows).longest, 0.0, 3) {
    w.write(random_numbers(w.rows() * w.cols(), 3));
  }

  /// run(sink) into a result of a shape that starts at `start`.
  template <class Run>
  Numbers result(Index rows, Index cols, bool add, double start, const Run& run) {
    const Tensor<Cpu<T>> y(device, rows, cols, start, 2);
    run(attn::Sink<T>{y, add});
    CHECK(y.outside_untouched());
    return y.read();
  }
  Numbers scores(const Tensor<Cpu<T>>& left, const Tensor<Cpu<T>>& right, bool add = false, double start = kUnset) {
    return result(w.rows(), w.cols(), add, start, [&](attn::Sink<T> y) {
      ragged_scores(device, {.a = left, .a_rows = a_rows, .b = right, .b_rows = b_rows, .scale = scale, .y = y});
    });
  }
  Numbers mix(const Tensor<Cpu<T>>& weights, const Tensor<Cpu<T>>& right, bool add = false, double start = kUnset) {
    return result(a.rows(), a.cols(), add, start, [&](attn::Sink<T> y) {
      ragged_mix(device, {.a = weights, .a_rows = a_rows, .b = right, .b_rows = b_rows, .scale = scale, .y = y});
    });
  }
  Numbers mix_transposed(const Tensor<Cpu<T>>& weights, const Tensor<Cpu<T>>& x, bool add = false, double start = kUnset) {
    return result(b.rows(), b.cols(), add, start, [&](attn::Sink<T> y) {
      ragged_mix_transposed(device, {.a = weights, .a_rows = a_rows, .b = x, .b_rows = b_rows, .scale = scale, .y = y});
    });
  }
};

}  // namespace

TEST_CASE_TEMPLATE("ragged products: small inputs match known values", T, float, double) {
  Cpu<T> device(2);
  RaggedProduct<T> op(device, {2, 1, 1}, {1, 2, 0}, 2);
  op.a.write({1, 2, 3, 4, 5, 6, 7, 8});
  op.b.write({10, 1, 2, 0, 4, 2});
  op.w.write({2, kUnset, 4, kUnset, 6, 8, kUnset, kUnset});  // columns beyond a sentence's rows of b are not read
  CHECK(op.scores(op.a, op.b) == Numbers{6, 0, 17, 0, 5, 16, 0, 0});
  CHECK(op.mix(op.w, op.b) == Numbers{10, 1, 20, 2, 22, 8, 0, 0});
  CHECK(op.mix_transposed(op.w, op.a) == Numbers{7, 10, 15, 18, 20, 24});
}

TEST_CASE("ragged products: rows outside all sentences are 0 if the sink sets") {
  Cpu<double> device(2);
  RaggedProduct<double> op(device, {1, 0}, {2, 1}, 1, 1);  // of a row 0 is inside, of b rows 0, 1 and 3
  op.a.write({3, kUnset, kUnset});
  op.b.write({2, 4, kUnset, 10, kUnset});
  op.w.write({6, 8, kUnset, kUnset, kUnset, kUnset});
  CHECK(op.scores(op.a, op.b) == Numbers{3, 6, 0, 0, 0, 0});
  CHECK(op.mix(op.w, op.b) == Numbers{22, 0, 0});
  CHECK(op.mix_transposed(op.w, op.a) == Numbers{9, 12, 0, 0, 0});
}

TEST_CASE("ragged products: gradients match finite differences") {
  Cpu<double> device(2);
  for (const auto& [a_lengths, b_lengths] : std::vector<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>>{
           {{1}, {1}}, {{3, 0, 2, 1}, {2, 4, 1, 0}}, {{0}, {3}}, {{}, {}}})
    for (const Index width : {1, 3, 17})
      for (const std::int32_t spare : {0, 2}) {
        RaggedProduct<double> op(device, a_lengths, b_lengths, width, spare);
        Tensor<Cpu<double>> dy(device, op.a.rows(), width, random_numbers(op.a.rows() * width, 4));
        const auto scores = [&] { return dot(op.w.read(), op.scores(op.a, op.b)); };
        check_gradient("a of scores", op.a, op.mix(op.w, op.b), scores);
        check_gradient("b of scores", op.b, op.mix_transposed(op.w, op.a), scores);
        const auto mixed = [&] { return dot(dy.read(), op.mix(op.w, op.b)); };
        check_gradient("w of mix", op.w, op.scores(dy, op.b), mixed);
        check_gradient("b of mix", op.b, op.mix_transposed(op.w, dy), mixed);
      }
}

TEST_CASE("ragged products: overwrite or accumulate") {
  Cpu<double> device(2);
  RaggedProduct<double> op(device, {3, 0, 70}, {2, 4, 90}, 5, 1);
  const auto check = [](const Numbers& added, const Numbers& set) {
    CHECK(distance(added, sum_of(set, Numbers(set.size(), 2))) <= 1e-13);
  };
  check(op.scores(op.a, op.b, true, 2), op.scores(op.a, op.b));
  check(op.mix(op.w, op.b, true, 2), op.mix(op.w, op.b));
  check(op.mix_transposed(op.w, op.a, true, 2), op.mix_transposed(op.w, op.a));
}

TEST_CASE("ragged products: long sentences equal sums of products") {
  Cpu<double> device(2);
  RaggedProduct<double> op(device, {130, 65}, {67, 129}, 33);
  const Numbers a = op.a.read(), b = op.b.read(), y = op.scores(op.a, op.b);
  double worst = 0;
  for (std::size_t i = 0; i < 195; ++i)
    for (std::size_t j = 0; j < 129; ++j) {
      const std::size_t first = i < 130 ? 0 : 67, keys = i < 130 ? 67 : 129;
      double sum = 0;
      for (std::size_t c = 0; c < 33 && j < keys; ++c) sum += 0.5 * a[i * 33 + c] * b[(first + j) * 33 + c];
      worst = std::max(worst, std::abs(sum - y[i * 129 + j]));
    }
  CHECK(worst <= 1e-14);
}

TEST_CASE("ragged products: incompatible layouts are an Error") {
  Cpu<double> device(1);
  const Layout<Cpu<double>> one(device, {2}), two(device, {1, 1});
  const Tensor<Cpu<double>> m(device, 2, 1, 0.0), y(device, 2, 1);
  CHECK(contains(error_of([&] { ragged_scores(device, {.a = m, .a_rows = one, .b = m, .b_rows = two, .y = {y}}); }),
                 "ragged_scores: the left side has 1 sentences and the right side has 2"));
  CHECK(contains(error_of([&] { ragged_mix(device, {.a = m, .a_rows = one, .b = m, .b_rows = one, .y = {y}}); }),
                 "ragged_mix: a sentence on the right side has 2 rows, but the scores have 1 columns"));
}

TEST_CASE_TEMPLATE("ragged products: results do not depend on the number of threads", T, float, double) {
  check_threads<T>([&](Cpu<T>& device) {
    RaggedProduct<T> op(device, {30, 7, 0, 161, 1}, {20, 90, 5, 133, 0}, 28);
    return joined({op.scores(op.a, op.b), op.mix(op.w, op.b), op.mix_transposed(op.w, op.a)});
  });
}
