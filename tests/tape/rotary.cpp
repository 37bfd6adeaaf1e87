#include "attn/tape/rotary.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/columns.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::Index;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

/// Checks the gradient of y = function(x), x of rows x 8, as the first contribution to the gradient of x and as a later one.
template <class Function>
void check(Index rows, const Function& function) {
  for (const bool later : {false, true}) {
    CAPTURE(later);
    Device device(2);
    Tensor<Device> x(device, rows, 8, random_numbers(rows * 8, 1));
    const Numbers more = later ? random_numbers(rows * 8, 3) : Numbers(static_cast<std::size_t>(rows * 8), 0);
    Tape tape(device, attn::TapeMode::gradients());
    const Variable in = input<8>(tape, x.read());
    const Variable y = function(in);
    const Numbers dy = random_numbers(y.rows() * y.cols(), 2);
    contribute(tape, y, dy);
    if (later) contribute(tape, in, more);
    tape.backward();
    check_gradient("x", x, gradient(tape, in), [&] {
      Tape again(device);
      const Variable z = function(input<8>(again, x.read()));
      return dot(dy, values(again, z)) + dot(more, x.read());
    });
  }
}

}  // namespace

TEST_CASE("rotary: gradients on a tape match finite differences and accumulate at any positions") {
  Device device(1);
  const Layout<Device> rows(device, {2, 0, 3}), with_spare(device, {2, 0, 3}, 1);
  const Integers<Device> firsts(device, {4, 0, 9});
  check(5, [&](Variable x) { return attn::rotary(x, rows, 2); });
  check(5, [&](Variable x) { return attn::rotary(x, rows, 4, 700); });
  check(5, [&](Variable x) { return attn::rotary(x, rows, 1, {9, firsts.data()}); });
  check(with_spare.rows(), [&](Variable x) { return attn::rotary(x, with_spare, 2); });
}

TEST_CASE("rotary: rows outside sentences are 0") {
  Device device(1);
  Tape tape(device);
  const Layout<Device> rows(device, {1, 1}, 1);
  const Variable x = input<2>(tape, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(values(tape, attn::rotary(x, rows, 1)) == Numbers{1, 2, 0, 0, 5, 6, 0, 0});
}

TEST_CASE("rotary: a later longer sentence does not change the gradient") {
  check(5, [&](Variable x) {
    Tape& tape = x.tape();
    const attn::Ragged all = attn::upload_offsets(tape, std::array<std::int32_t, 2>{0, 5}.data(), 1);
    const Variable y = attn::rotary(x, all, 2);
    const attn::Ragged many = attn::upload_offsets(tape, std::array<std::int32_t, 2>{0, 3000}.data(), 1);
    const Variable large = tape.constant({tape.array<double>(3000 * 8), 3000, 8});
    tape.device.zero(large.value);
    attn::rotary(large, many, 2);
    return y;
  });
}

TEST_CASE("rotary: the error for odd head widths names them") {
  Device device(1);
  Tape tape(device);
  const Layout<Device> rows(device, {2});
  CHECK(contains(error_of([&] { attn::rotary(tape.make(2, 6), rows, 2); }), "6 columns are not 2 heads of an even width"));
}

TEST_CASE("repeat_heads: one repeat is the activation itself and gradients match finite differences") {
  Device device(1);
  Tape tape(device);
  const Variable x = input<4>(tape, {1, 2, 3, 4});
  CHECK(attn::repeat_heads(x, 2, 1).value.data == x.value.data);
  CHECK(values(tape, attn::repeat_heads(x, 2, 2)) == Numbers{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(contains(error_of([&] { attn::repeat_heads(x, 3, 2); }), "4 columns are not a multiple of 3 heads"));
  check(3, [](Variable y) { return attn::repeat_heads(y, 2, 3); });
  check(3, [](Variable y) { return attn::repeat_heads(y, 8, 2); });
}

TEST_CASE("rotary: the base sets the rotation speed of the columns") {
  Device device(1);
  const Layout<Device> rows(device, {2});
  Tape tape(device);
  const Variable x = input<4>(tape, {1, 1, 0, 0, 1, 1, 0, 0});
  for (const int base : {10000, 500000, 10000}) {
    const Numbers y = values(tape, attn::rotary(x, rows, 1, 2, base));
    for (const int p : {0, 1})
      for (const int j : {0, 1}) {
        const double angle = (2 + p) / std::pow(base, j / 2.0);
        CHECK(y[static_cast<std::size_t>(4 * p + j)] == doctest::Approx(std::cos(angle)).epsilon(1e-12));
        CHECK(y[static_cast<std::size_t>(4 * p + j + 2)] == doctest::Approx(std::sin(angle)).epsilon(1e-12));
      }
  }
  CHECK(contains(error_of([&] { attn::rotary(x, rows, 1, 0, 1); }), "a base of 1 is not above 1"));
}
