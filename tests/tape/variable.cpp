#include "attn/tape/variable.hpp"

#include <doctest/doctest.h>

#include <concepts>

#include "attn/cpu.hpp"
#include "attn/tape/linear.hpp"
#include "support/errors.hpp"
#include "support/tape.hpp"

using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
template <int Width>
using Variable = attn::Variable<Device, Width>;

static_assert(std::derived_from<Variable<3>, Variable<attn::dynamic>>);
static_assert(std::convertible_to<Variable<attn::dynamic>, Variable<3>>);  // checked at run time
static_assert(!std::convertible_to<attn::Matrix<double>, Variable<3>>);

TEST_CASE("variable: knows its rows at run time and its width at compile time or run time") {
  double numbers[6] = {};
  const Variable<3> x({numbers, 2, 3});
  CHECK(x.rows() == 2);
  CHECK(x.cols() == 3);
  CHECK(decltype(x)::width == 3);
  CHECK(x.slot == nullptr);
}

TEST_CASE("variable: it and everything computed from it know the tape") {
  Device device(1);
  TestParameter<Device> weight(device, 2, 3, 1);
  Tape outer(device, attn::TapeMode::gradients());
  Tape inner(device);
  const auto x = outer.make(2, 3), z = inner.make(2, 3);
  CHECK(&x.tape() == &outer);
  CHECK(&z.tape() == &inner);
  CHECK(&attn::linear(input<3>(outer, Numbers(6, 1)), weight).tape() == &outer);
  CHECK(&attn::linear(input<3>(inner, Numbers(6, 1)), weight).tape() == &inner);
}

TEST_CASE("variable: a constant on a tape uses the given memory and has no gradient") {
  Device device(1);
  TestParameter<Device> weight(device, 2, 3, 1);
  weight.frozen = true;
  Tape tape(device, attn::TapeMode::gradients());
  double numbers[6] = {1, 2, 3, 4, 5, 6};
  const auto x = tape.constant({numbers, 2, 3});
  CHECK(&x.tape() == &tape);
  CHECK(x.value.data == numbers);
  CHECK(x.slot == nullptr);
  CHECK(attn::linear(x, weight).slot == nullptr);
  weight.frozen = false;
  CHECK(attn::linear(x, weight).slot != nullptr);
}

TEST_CASE("variable: use without a tape is an error") {
  Device device(1);
  TestParameter<Device> weight(device, 2, 3, 1);
  double numbers[6] = {};
  const Variable<3> empty, bare({numbers, 2, 3});
  CHECK(contains(error_of([&] { empty.tape(); }), "on no tape"));
  CHECK(contains(error_of([&] { bare.tape(); }), "Compute it from a batch."));
  CHECK(contains(error_of([&] { attn::linear(bare, weight); }), "on no tape"));
}

TEST_CASE("variable: converting a dynamic width to a static one is checked and names the layer") {
  Device device(1);
  Tape tape(device);
  auto x = tape.make(2, 3);
  CHECK(Variable<3>(x).value.data == x.value.data);
  const auto as_four = [&] { return error_of([&] { static_cast<void>(Variable<4>(x)); }); };
  CHECK(contains(as_four(), "an activation of 3 columns, but the type says 4"));
  x.layer = "Linear";
  CHECK(contains(as_four(), "an activation of 3 columns, the output of Linear, but the type says 4"));
  CHECK(Variable<4>(Variable<attn::dynamic>()).value.empty());  // an absent state has no width
}
