#include "attn/ops/embedding.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// Sentences of random tokens looked up in a random table.
template <class T>
struct Embedding {
  Cpu<T>& device;
  Layout<Cpu<T>> rows;
  Integers<Cpu<T>> tokens;
  Tensor<Cpu<T>> table, positions, dy;
  float scale = 1;
  Index first_position = 0;
  bool has_positions = false;
  attn::Dropout dropout{};

  Embedding(Cpu<T>& on, const std::vector<std::int32_t>& lengths, const std::vector<std::int32_t>& ids, Index vocabulary,
            Index width)
      : device(on),
        rows(on, lengths),
        tokens(on, ids),
        table(on, vocabulary, width, random_numbers(vocabulary * width, 1)),
        positions(on, 12, width, random_numbers(12 * width, 2)),
        dy(on, rows.rows(), width, random_numbers(rows.rows() * width, 3), 2) {}

  Numbers y() {
    const Tensor<Cpu<T>> result(device, dy.rows(), dy.cols(), kUnset, 1);
    embedding(device, {.tokens = tokens.data(),
                       .rows = rows,
                       .table = table,
                       .positions = has_positions ? positions.view() : attn::Matrix<T>(),
                       .first_position = first_position,
                       .scale = scale,
                       .dropout = dropout,
                       .y = result});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dtable(double start = 0) {
    const Tensor<Cpu<T>> result(device, table.rows(), table.cols(), start);
    embedding_gradient(device, {.tokens = tokens.data(), .dy = dy, .scale = scale, .dropout = dropout, .dtable = result});
    return result.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("embedding: outputs and gradients match PyTorch with repeated tokens", T, float, double) {
  Cpu<T> device(2);
  Embedding<T> op(device, {4, 3}, reference_integers("embedding/tokens"), 6, 4);
  op.table.write(reference("embedding/table"));
  op.dy.write(reference("embedding/gradient/y"));
  CHECK(distance(op.y(), reference("embedding/y")) <= kReferenceTolerance<T>);
  CHECK(distance(op.dtable(), reference("embedding/gradient/table")) <= kReferenceTolerance<T>);
}

TEST_CASE("embedding: scales the table and adds the position within each sentence") {
  Cpu<double> device(2);
  Embedding<double> op(device, {2, 0, 1}, {1, 0, 1}, 2, 2);
  op.table.write({1, 2, 3, 4});
  op.positions.write(joined({{10, 20, 30, 40, 50, 60, 70, 80}, Numbers(16, 0)}));
  op.scale = 2;
  CHECK(op.y() == Numbers{6, 8, 2, 4, 6, 8});
  op.has_positions = true;
  CHECK(op.y() == Numbers{16, 28, 32, 44, 16, 28});
  op.first_position = 2;
  CHECK(op.y() == Numbers{56, 68, 72, 84, 56, 68});
}

TEST_CASE("embedding: the gradient matches finite differences") {
  Cpu<double> device(2);
  for (const Index width : {1, 5, 7}) {
    Embedding<double> op(device, {3, 1, 0, 2}, {4, 4, 1, 4, 0, 1}, 5, width);
    op.scale = 1.5f;
    op.has_positions = true;
    op.dropout = {0.4f, attn::key_of_seed(1)};
    check_gradient("table", op.table, op.dtable(), [&] { return dot(op.dy.read(), op.y()); });
  }
}

TEST_CASE("embedding: the gradient accumulates and is unchanged for no tokens") {
  Cpu<double> device(2);
  Embedding<double> op(device, {2}, {1, 1}, 3, 4), none(device, {0}, {}, 3, 4);
  CHECK(distance(op.dtable(5), sum_of(op.dtable(), Numbers(12, 5))) <= 1e-14);
  CHECK(none.y().empty());
  CHECK(none.dtable(5) == Numbers(12, 5));
}

TEST_CASE_TEMPLATE("sinusoid: alternates sine and cosine of decreasing frequencies", T, float, double) {
  Cpu<T> device(1);
  const Tensor<Cpu<T>> even(device, 51, 4), odd(device, 3, 5, kUnset, 1);
  attn::sinusoid(device, even.view());
  const Numbers y = even.read();
  CHECK(Numbers(y.begin(), y.begin() + 4) == Numbers{0, 1, 0, 1});
  const double tolerance = sizeof(T) == 8 ? 1e-14 : 1e-7;
  CHECK(distance(Numbers(y.end() - 4, y.end()), {std::sin(50.0), std::cos(50.0), std::sin(0.5), std::cos(0.5)}) <=
        tolerance);
  attn::sinusoid(device, odd.view());
  const double angle = 2 / std::pow(10000, 0.4), last = 2 / std::pow(10000, 0.8);
  const Numbers z = odd.read();
  CHECK(distance(Numbers(z.end() - 5, z.end()),
                 {std::sin(2.0), std::cos(2.0), std::sin(angle), std::cos(angle), std::sin(last)}) <= tolerance);
  CHECK(odd.outside_untouched());
}

TEST_CASE_TEMPLATE("sinusoid: in halves all sines precede their cosines", T, float, double) {
  Cpu<T> device(1);
  const Tensor<Cpu<T>> even(device, 51, 4), odd(device, 3, 5, kUnset, 1);
  attn::sinusoid(device, even.view(), attn::SinusoidOrder::halves);
  const Numbers y = even.read();
  CHECK(Numbers(y.begin(), y.begin() + 4) == Numbers{0, 0, 1, 1});
  const double tolerance = sizeof(T) == 8 ? 1e-14 : 1e-7;
  CHECK(distance(Numbers(y.end() - 4, y.end()), {std::sin(50.0), std::sin(0.5), std::cos(50.0), std::cos(0.5)}) <=
        tolerance);
  attn::sinusoid(device, odd.view(), attn::SinusoidOrder::halves);
  const double angle = 2 / std::pow(10000, 0.4), last = 2 / std::pow(10000, 0.8);
  const Numbers z = odd.read();
  CHECK(distance(Numbers(z.end() - 5, z.end()),
                 {std::sin(2.0), std::sin(angle), std::sin(last), std::cos(2.0), std::cos(angle)}) <= tolerance);
  CHECK(odd.outside_untouched());
}

TEST_CASE_TEMPLATE("embedding: results do not depend on the number of threads", T, float, double) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < 60; ++i) tokens.push_back(i * i % 7);
  check_threads<T>([&](Cpu<T>& device) {
    Embedding<T> op(device, {10, 9, 11, 0, 12, 1, 8, 9}, tokens, 7, 201);
    op.scale = 3;
    op.has_positions = true;
    op.dropout = {0.1f, attn::key_of_seed(1)};
    return joined({op.y(), op.dtable()});
  });
}
