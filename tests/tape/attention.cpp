#include "attn/tape/attention.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/columns.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

namespace {

constexpr int kWidth = 4;

/// Checks the gradient of y = function(x), x of 3 * kWidth columns, recorded in this mode.
template <class Function>
void check(TapeMode mode, attn::Index rows, const Function& function) {
  Device device(2);
  Tensor<Device> x(device, rows, 3 * kWidth, random_numbers(rows * 3 * kWidth, 1));
  const Numbers dy = random_numbers(rows * kWidth, 2);
  TapeMode forward = mode;
  forward.record = false;
  Tape tape(device, mode);
  const auto in = input<3 * kWidth>(tape, x.read());
  contribute(tape, function(in), dy);
  tape.backward();
  check_gradient("x", x, gradient(tape, in), [&] {
    Tape again(device, forward);
    return dot(dy, values(again, function(input<3 * kWidth>(again, x.read()))));
  });
}

}  // namespace

TEST_CASE("attention: the gradient over slices of one matrix matches finite differences") {
  Device device(1);
  const Layout<Device> rows(device, {3, 0, 1, 5});
  for (const TapeMode mode : {TapeMode::gradients(), TapeMode::training(1, 2)})
    for (const bool causal : {false, true})
      check(mode, 9, [&](auto x) {
        const auto [q, k, v] = attn::split<3>(x);
        return attn::attention(q, rows, {k, v, rows}, {2, 0.7f, causal, 0.3f});
      });
}

TEST_CASE("attention: self-attention of one variable gets all three gradients even over several blocks") {
  Device device(1);
  for (const std::int32_t length : {3, 70}) {
    CAPTURE(length);
    const Layout<Device> rows(device, {length});
    for (const bool causal : {false, true})
      check(TapeMode::gradients(), length, [&](auto x) {
        const auto y = attn::split<3>(x)[1];
        return attn::attention(y, rows, {y, y, rows}, {2, 0.7f, causal, 0});
      });
  }
}

TEST_CASE("attention: keys that are also the values get both gradients") {
  Device device(1);
  const Layout<Device> rows(device, {2, 3});
  check(TapeMode::gradients(), 5, [&](auto x) {
    const auto [q, k, unused] = attn::split<3>(x);
    return attn::attention(q, rows, {k, k, rows}, {1, 0.5f, true, 0});
  });
}

TEST_CASE("attention: the error for different sentence counts names both") {
  Device device(1);
  Tape tape(device);
  const Layout<Device> three(device, {1, 1, 1}), two(device, {1, 2});
  const auto x = input<2>(tape, {1, 2, 3, 4, 5, 6});
  const std::string sentence = error_of([&] { attn::attention(x, three, {x, x, two}, {}); });
  CHECK(contains(sentence, "queries of 3 sentences"));
  CHECK(contains(sentence, "keys of 2"));
}
