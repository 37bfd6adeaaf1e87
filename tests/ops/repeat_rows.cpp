#include "attn/ops/reductions.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

template <class T>
struct RepeatRows {
  Cpu<T>& device;
  Layout<Cpu<T>> rows;
  Tensor<Cpu<T>> x, dy;

  RepeatRows(Cpu<T>& on, const std::vector<std::int32_t>& lengths, Index cols, std::int32_t spare = 0)
      : device(on),
        rows(on, lengths, spare),
        x(on, static_cast<Index>(lengths.size()), cols, random_numbers(static_cast<Index>(lengths.size()) * cols, 1), 2),
        dy(on, rows.rows(), cols, random_numbers(rows.rows() * cols, 2), 1) {}

  Numbers y() {
    const Tensor<Cpu<T>> result(device, dy.rows(), dy.cols(), kUnset, 3);
    reduce_rows_gradient(device, {.rows = rows, .dy = x, .dx = {result}});  // of a sum
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, 3);
    reduce_rows(device, {.x = dy, .rows = rows, .y = {result, add}});
    CHECK(result.outside_untouched());
    return result.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("reduce_rows: repeating rows handles empty sentences and rows outside all sentences", T, float, double) {
  Cpu<T> device(2);
  RepeatRows<T> op(device, {2, 0, 1}, 2, 1);  // rows 2, 3 and 5 are outside
  op.x.write({1, 2, 3, 4, 5, 6});
  op.dy.write({1, 2, 10, 20, kUnset, kUnset, kUnset, kUnset, 7, 8, kUnset, kUnset});
  CHECK(op.y() == Numbers{1, 2, 1, 2, 0, 0, 0, 0, 5, 6, 0, 0});
  CHECK(op.dx() == Numbers{11, 22, 0, 0, 7, 8});
  CHECK(op.dx(true, 100) == Numbers{111, 122, 100, 100, 107, 108});
}

TEST_CASE("reduce_rows: repeating rows has the sum as gradient and matches finite differences") {
  Cpu<double> device(2);
  const std::vector<std::vector<std::int32_t>> batches{{1}, {3, 0, 5, 1}, {0}, {}};
  for (const auto& lengths : batches)
    for (const Index cols : {1, 3, 17}) {
      RepeatRows<double> op(device, lengths, cols);
      check_gradient("x", op.x, op.dx(), [&] { return dot(op.dy.read(), op.y()); });
    }
}

TEST_CASE_TEMPLATE("reduce_rows: repeating rows gives results that do not depend on the number of threads", T, float,
                   double) {
  check_threads<T>([&](Cpu<T>& device) {
    RepeatRows<T> op(device, {30, 7, 0, 61, 1, 20}, 37);
    return joined({op.y(), op.dx()});
  });
}
