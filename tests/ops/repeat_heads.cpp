#include "attn/ops/move_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

template <class T>
struct RepeatHeads {
  Cpu<T>& device;
  Index width, times;
  Tensor<Cpu<T>> x, dy;

  RepeatHeads(Cpu<T>& on, Index rows, Index heads, Index head_width, Index repeats)
      : device(on),
        width(head_width),
        times(repeats),
        x(on, rows, heads * width, random_numbers(rows * heads * width, 1), 2),
        dy(on, rows, times * heads * width, random_numbers(times * rows * heads * width, 2), 1) {}

  Numbers y() {
    const Tensor<Cpu<T>> result(device, dy.rows(), dy.cols(), kUnset, 3);
    repeat_heads(device, {.x = x, .width = width, .times = times, .y = result});
    CHECK(result.outside_untouched());
    return result.read();
  }
  Numbers dx(bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, x.rows(), x.cols(), start, 3);
    repeat_heads_gradient(device, {.dy = dy, .width = width, .times = times, .dx = {result, add}});
    CHECK(result.outside_untouched());
    return result.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("repeat_heads: small inputs match known values", T, float, double) {
  Cpu<T> device(2);
  RepeatHeads<T> op(device, 2, 2, 2, 3);
  op.x.write({1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(op.y() == Numbers{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 5, 6, 5, 6, 5, 6, 7, 8, 7, 8, 7, 8});
  Numbers dy(24);
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<double>(i + 1);
  op.dy.write(dy);
  CHECK(op.dx() == Numbers{9, 12, 27, 30, 45, 48, 63, 66});
  CHECK(op.dx(true, 100) == Numbers{109, 112, 127, 130, 145, 148, 163, 166});
}

TEST_CASE("repeat_heads: repeating once copies") {
  Cpu<double> device(2);
  RepeatHeads<double> op(device, 3, 4, 5, 1);
  CHECK(op.y() == op.x.read());
  CHECK(op.dx() == op.dy.read());
}

TEST_CASE("repeat_heads: the gradient matches finite differences") {
  Cpu<double> device(2);
  for (const Index rows : {0, 1, 5})
    for (const Index width : {1, 3, 17})
      for (const Index times : {2, 4}) {
        RepeatHeads<double> op(device, rows, 3, width, times);
        check_gradient("x", op.x, op.dx(), [&] { return dot(op.dy.read(), op.y()); });
      }
}

TEST_CASE_TEMPLATE("repeat_heads: results do not depend on the number of threads", T, float, double) {
  check_threads<T>([&](Cpu<T>& device) {
    RepeatHeads<T> op(device, 301, 3, 10, 4);
    return joined({op.y(), op.dx()});
  });
}
