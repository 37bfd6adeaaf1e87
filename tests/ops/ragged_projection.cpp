#include "attn/ops/ragged_product.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// Sentences projected to k rows each, by one matrix or one for each block of columns.
template <class T>
struct Projection {
  Cpu<T>& device;
  Layout<Cpu<T>> rows;
  int blocks;
  Tensor<Cpu<T>> x, projection, dy;

  Projection(Cpu<T>& on, const std::vector<std::int32_t>& lengths, Index k, Index longest, int block_count, Index width)
      : device(on),
        rows(on, lengths),
        blocks(block_count),
        x(on, rows.rows(), width, random_numbers(rows.rows() * width, 1), 2),
        projection(on, blocks * k, longest, random_numbers(blocks * k * longest, 2)),
        dy(on, static_cast<Index>(lengths.size()) * k, width,
           random_numbers(static_cast<Index>(lengths.size()) * k * width, 3), 1) {}

  Numbers y() {
    const Tensor<Cpu<T>> result(device, dy.rows(), dy.cols(), kUnset, 3);
    ragged_projection(device, {.x = x, .rows = rows, .projection = projection, .blocks = blocks, .y = result});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, 3);
    ragged_projection_input_gradient(
        device, {.dy = dy, .rows = rows, .projection = projection, .blocks = blocks, .dx = {result, add}});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dprojection(double start = 0) {
    const Tensor<Cpu<T>> result(device, projection.rows(), projection.cols(), start);
    ragged_projection_weight_gradient(device, {.dy = dy, .x = x, .rows = rows, .blocks = blocks, .dprojection = result});
    return result.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("ragged_projection: mixes the rows of each sentence with the first columns of E", T, float, double) {
  Cpu<T> device(2);
  Projection<T> op(device, {2, 0, 1}, 2, 3, 1, 2);
  op.x.write({1, 2, 3, 4, 5, 6});
  op.projection.write({1, 10, 100, 0, 1, 7});
  CHECK(op.y() == Numbers{31, 42, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0});
}

TEST_CASE("ragged_projection: each block of columns has its own matrix") {
  Cpu<double> device(2);
  Projection<double> op(device, {2}, 1, 2, 2, 4);
  op.x.write({1, 2, 3, 4, 5, 6, 7, 8});
  op.projection.write({1, 1, 0, 10});
  CHECK(op.y() == Numbers{6, 8, 70, 80});
}

TEST_CASE("ragged_projection: gradients match finite differences") {
  Cpu<double> device(2);
  const std::vector<std::vector<std::int32_t>> batches{{1}, {3, 0, 5, 1}, {0}, {}};
  for (const auto& lengths : batches)
    for (const int blocks : {1, 3})
      for (const Index k : {1, 3, 18}) {
        CAPTURE(blocks);
        CAPTURE(k);
        Projection<double> op(device, lengths, k, 6, blocks, blocks * 5);
        const auto loss = [&] { return dot(op.dy.read(), op.y()); };
        check_gradient("x", op.x, op.dx(), loss);
        check_gradient("projection", op.projection, op.dprojection(), loss);
      }
}

TEST_CASE("ragged_projection: input gradients overwrite or accumulate and parameter gradients accumulate") {
  Cpu<double> device(2);
  Projection<double> op(device, {3, 4}, 3, 6, 2, 10);
  CHECK(distance(op.dx(true, 2), sum_of(op.dx(), Numbers(70, 2))) <= 1e-13);
  CHECK(distance(op.dprojection(2), sum_of(op.dprojection(), Numbers(36, 2))) <= 1e-13);
}

TEST_CASE("ragged_projection: columns of E beyond the longest sentence have gradient 0") {
  Cpu<double> device(1);
  const Numbers gradient = Projection<double>(device, {2, 1}, 2, 4, 1, 3).dprojection();
  for (const std::size_t i : {2U, 3U, 6U, 7U}) CHECK(gradient[i] == 0);
  CHECK(gradient[1] != 0);
}

TEST_CASE_TEMPLATE("ragged_projection: results do not depend on the number of threads", T, float, double) {
  for (const int blocks : {1, 4})
    check_threads<T>([&](Cpu<T>& device) {
      Projection<T> op(device, {30, 7, 0, 61, 1, 20}, 33, 64, blocks, 28);
      return joined({op.y(), op.dx(), op.dprojection()});
    });
}
