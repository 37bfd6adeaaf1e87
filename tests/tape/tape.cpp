#include "attn/tape/tape.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/columns.hpp"
#include "support/errors.hpp"
#include "support/tape.hpp"

using attn::Index;
using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

/// factor * x: a differentiable function as a user would write it, which counts how often its gradient runs.
Variable times(Tape& tape, Variable x, double factor, int* runs = nullptr) {
  const auto y = tape.result(x.rows(), x.cols(), x);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) y.value(i, j) = factor * x.value(i, j);
  tape.on_backward(y, [=](Tape& back, auto dy) {
    const auto dx = back.sink(x);
    for (Index i = 0; i < dy.rows; ++i)
      for (Index j = 0; j < dy.cols; ++j) dx.put(dx.to(i, j), factor * dy(i, j));
    if (runs) ++*runs;
  });
  return y;
}

}  // namespace

TEST_CASE("tape: the gradient of a chain is the product of its factors") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<2>(tape, {1, 2, 3, 4});
  const auto y = times(tape, times(tape, x, 3), -2);
  CHECK(values(tape, y) == Numbers{-6, -12, -18, -24});
  contribute(tape, y, {1, 0, 10, 1});
  tape.backward();
  CHECK(gradient(tape, x) == Numbers{-6, 0, -60, -6});
}

TEST_CASE("tape: a variable used several times gets the sum of its gradients") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<1>(tape, {1, 2});
  const auto y = times(tape, x, 3);
  const auto a = times(tape, y, 5), b = times(tape, y, 7), c = times(tape, y, 11);
  contribute(tape, a, {1, 1});
  contribute(tape, b, {1, 2});
  contribute(tape, c, {1, 3});
  tape.backward();
  CHECK(gradient(tape, x) == Numbers{3 * (5 + 7 + 11), 3 * (5 + 14 + 33)});
}

TEST_CASE("tape: a result used by two losses gets the sum of both gradients") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<1>(tape, {1});
  const auto y = times(tape, x, 3);
  contribute(tape, y, {10});
  contribute(tape, y, {1});
  tape.backward();
  CHECK(gradient(tape, x) == Numbers{33});
}

TEST_CASE("tape: functions with unused results do not run backward") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  int used = 0, unused = 0;
  const auto x = input<1>(tape, {1});
  const auto y = times(tape, x, 2, &used);
  times(tape, times(tape, x, 100, &unused), 100, &unused);
  contribute(tape, y, {1});
  tape.backward();
  CHECK(used == 1);
  CHECK(unused == 0);
  CHECK(gradient(tape, x) == Numbers{2});
}

TEST_CASE("tape: a second backward pass is an error and changes nothing") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  int runs = 0;
  const auto x = input<1>(tape, {1});
  contribute(tape, times(tape, x, 2, &runs), {1});
  CHECK_FALSE(tape.ran_backward());
  tape.backward();
  CHECK(tape.ran_backward());
  CHECK(contains(error_of([&] { tape.backward(); }), "this tape's backward pass has already run"));
  CHECK(runs == 1);
  CHECK(gradient(tape, x) == Numbers{2});
}

TEST_CASE("tape: activations without rows run forward and backward") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  int runs = 0;
  const auto x = input<3>(tape, {});
  const auto y = times(tape, x, 2, &runs);
  contribute(tape, y, {});
  tape.backward();
  CHECK(runs == 1);
  CHECK(gradient(tape, x).empty());
}

TEST_CASE("tape: all slices of a split pass their gradients to the whole") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<3>(tape, {1, 2, 3, 4, 5, 6});
  const auto [a, b, c] = attn::split<3>(times(tape, x, 2));
  CHECK(values(tape, b) == Numbers{4, 10});
  for (const auto& [slice, factor] : {std::pair(a, 1.0), std::pair(b, 10.0), std::pair(c, 100.0)})
    contribute(tape, times(tape, slice, factor), {1, 2});
  tape.backward();
  CHECK(gradient(tape, x) == Numbers{2, 20, 200, 4, 40, 400});
}

TEST_CASE("tape: an unused slice has gradient 0 even in reused memory") {
  Device device(1);
  for (int unused = 0; unused < 3; ++unused) {
    Tape tape(device, TapeMode::gradients());
    const auto dirt = tape.scratch<double>(100, 100);
    for (Index i = 0; i < 10000; ++i) dirt.data[i] = kUnset;
    tape.release(dirt);
    const auto x = input<3>(tape, {1, 2, 3, 4, 5, 6});
    const auto slices = attn::split<3>(times(tape, x, 2));
    Numbers expected{2, 2, 2, 2, 2, 2};
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i == unused)
        expected[at] = expected[at + 3] = 0;
      else
        contribute(tape, times(tape, slices[at], 1), {1, 1});
    }
    tape.backward();
    CHECK(gradient(tape, x) == expected);
  }
}

TEST_CASE("tape: a split without used slices leaves no gradient") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<2>(tape, {1, 2});
  attn::split<2>(times(tape, x, 2));
  contribute(tape, input<1>(tape, {1}), {1});
  tape.backward();
  CHECK(gradient(tape, x).empty());
}

TEST_CASE("tape: a slice and the whole may both be used in any order") {
  Device device(1);
  // In the backward pass the whole comes: last, first, and before the slices exist.
  for (int order = 0; order < 3; ++order) {
    CAPTURE(order);
    Tape tape(device, TapeMode::gradients());
    const auto dirt = tape.scratch<double>(100, 100);
    for (Index i = 0; i < 10000; ++i) dirt.data[i] = kUnset;
    tape.release(dirt);
    const auto x = input<2>(tape, {1, 2, 3, 4});
    const auto y = times(tape, x, 2);
    if (order == 0) contribute(tape, times(tape, y, 5), {1, 2, 3, 4});
    if (order == 2) contribute(tape, y, {5, 10, 15, 20});
    const auto [a, b] = attn::split<2>(y);
    contribute(tape, times(tape, b, 100), {1, 1});
    if (order == 1) contribute(tape, times(tape, y, 5), {1, 2, 3, 4});
    tape.backward();
    CHECK(gradient(tape, x) == Numbers{10, 220, 30, 240});
  }
}

TEST_CASE("tape: a slice used twice gets the sum of its gradients") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<2>(tape, {1, 2});
  const auto [a, b] = attn::split<2>(x);
  contribute(tape, times(tape, b, 3), {1});
  contribute(tape, times(tape, b, 4), {1});
  contribute(tape, times(tape, a, 1), {1});
  tape.backward();
  CHECK(gradient(tape, x) == Numbers{1, 7});
}

TEST_CASE("tape: without recording values are the same and nothing is stored") {
  Device device(1);
  int runs = 0;
  Tape tape(device);
  const auto x = input<2>(tape, {1, 2});
  const auto [a, b] = attn::split<2>(times(tape, x, 3, &runs));
  CHECK(values(tape, b) == Numbers{6});
  CHECK_FALSE(tape.recording());
  CHECK(x.slot == nullptr);
  CHECK(a.slot == nullptr);
  CHECK(contains(error_of([&] { tape.backward(); }), "this tape does not record"));
  CHECK(runs == 0);
  CHECK(device.tape_nodes.capacity() == 0);
  CHECK(device.gradients.capacity() == 0);
}

TEST_CASE("tape: an inner tape frees only its own memory") {
  Device device(1);
  Tape outer(device, TapeMode::gradients());
  const auto x = input<2>(outer, {1, 2});
  const auto y = times(outer, x, 3);
  const double* next = nullptr;
  for (int i = 0; i < 3; ++i) {
    Tape inner(device);
    const auto z = times(inner, y, 2);
    CHECK(values(inner, z) == Numbers{6, 12});
    if (next != nullptr) CHECK(z.value.data == next);
    next = z.value.data;
  }
  CHECK(outer.make(1, 2).value.data == next);
  contribute(outer, y, {1, 1});
  outer.backward();
  CHECK(values(outer, y) == Numbers{3, 6});
  CHECK(gradient(outer, x) == Numbers{3, 3});
}

TEST_CASE("tape: equal steps have equal addresses and allocate nothing after the first") {
  Device device(1);
  const auto step = [&] {
    Tape tape(device, TapeMode::gradients());
    std::vector<const void*> places;
    auto x = tape.make(600, 64);  // 300 KiB: several blocks in the first step
    device.zero(x.value);
    const auto first = x;
    for (int i = 0; i < 8; ++i) {
      x = times(tape, x, 2);
      places.push_back(x.value.data);
    }
    contribute(tape, x, Numbers(600 * 64, 1));
    tape.backward();
    places.push_back(first.slot);
    places.push_back(first.slot->gradient.data);
    return places;
  };
  step();
  const auto second = step();
  const std::size_t activations = device.activations.capacity(), gradients = device.gradients.capacity();
  for (int i = 0; i < 3; ++i) CHECK(step() == second);
  CHECK(device.activations.capacity() == activations);
  CHECK(device.gradients.capacity() == gradients);
}

TEST_CASE("tape: gradients of a deep chain need the memory of a few") {
  Device device(1);
  constexpr Index kRows = 1000;
  for (int repeat = 0; repeat < 3; ++repeat) {
    Tape tape(device, TapeMode::gradients());
    auto x = tape.make(kRows, 64);
    device.zero(x.value);
    for (int i = 0; i < 100; ++i) x = times(tape, x, 1);
    contribute(tape, x, Numbers(kRows * 64, 1));
    tape.backward();
  }
  const std::size_t one = kRows * 64 * sizeof(double);
  CHECK(device.gradients.capacity() >= 2 * one);
  CHECK(device.gradients.capacity() <= 6 * one);
}

TEST_CASE("tape: a second recording tape is rejected while the first exists") {
  Device device(1);
  {
    Tape first(device, TapeMode::gradients());
    CHECK(contains(error_of([&] { Tape(device, TapeMode::gradients()); }), "End it before you create a new one"));
    CHECK(error_of([&] { Tape tape(device); }) == "");
  }
  CHECK(error_of([&] { Tape(device, TapeMode::gradients()); }) == "");
}

TEST_CASE("tape: backward without recording is an error that names the right modes") {
  Device device(1);
  Tape tape(device);
  const std::string sentence = error_of([&] { tape.backward(); });
  CHECK(contains(sentence, "this tape does not record"));
  CHECK(contains(sentence, "TapeMode::training(seed, step) or TapeMode::gradients()"));
}
