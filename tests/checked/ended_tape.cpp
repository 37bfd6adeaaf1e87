#include <doctest/doctest.h>

#include <optional>

#include "attn/cpu.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/linear.hpp"
#include "support/errors.hpp"
#include "support/tape.hpp"

// In a build with ATTN_CHECKED, tapes that have ended are known.

using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

TEST_CASE("checked: using an activation after its tape ends is an error") {
  Device device(1);
  TestParameter<Device> weight(device, 2, 3, 1);
  Variable x, y;
  {
    Tape tape(device);
    x = input<3>(tape, Numbers(6, 1));
    y = attn::linear(x, weight);
    CHECK(&y.tape() == &tape);
  }
  CHECK(contains(error_of([&] { y.tape(); }), "used after its tape has ended"));
  CHECK(contains(error_of([&] { attn::linear(x, weight); }), "Keep the Tape alive, or compute it again"));
  CHECK(contains(error_of([] { Variable().tape(); }), "on no tape"));
}

TEST_CASE("checked: a new tape at the same address does not revive old activations") {
  Device device(1);
  std::optional<Tape> tape(std::in_place, device);
  const Tape* address = &*tape;
  const Variable old = tape->make(1, 3);
  tape.reset();
  tape.emplace(device);
  REQUIRE(&*tape == address);
  CHECK(contains(error_of([&] { old.tape(); }), "used after its tape has ended"));
  CHECK(&tape->make(1, 3).tape() == address);
}

TEST_CASE("checked: activations of an outer tape remain valid during and after an inner tape") {
  Device device(1);
  Tape outer(device, attn::TapeMode::gradients());
  const auto x = input<3>(outer, Numbers(6, 1));
  Variable inside;
  {
    Tape inner(device);
    inside = inner.make(1, 3);
    CHECK(&x.tape() == &outer);
    CHECK(&inside.tape() == &inner);
  }
  CHECK(&x.tape() == &outer);
  CHECK(contains(error_of([&] { inside.tape(); }), "used after its tape has ended"));
}

TEST_CASE("checked: using a loss after its tape ends is an error") {
  Device device(1);
  TestParameter<Device> weight(device, 4, 3, 1), bias(device, 4, 1, 2);
  const attn::Token labels[] = {0, 3};
  attn::Loss<Device> loss;
  {
    Tape tape(device, attn::TapeMode::gradients());
    loss = attn::cross_entropy(input<3>(tape, Numbers(6, 1)), weight, bias, labels);
    loss.backward();
    CHECK(loss.value() > 0);
  }
  CHECK(contains(error_of([&] { loss.value(); }), "used after its tape has ended"));
  CHECK(contains(error_of([&] { loss.mean(); }), "used after its tape has ended"));
  CHECK(contains(error_of([&] { loss.backward(); }), "used after its tape has ended"));
  CHECK(contains(error_of([&] { loss + loss; }), "used after its tape has ended"));
  CHECK(contains(error_of([&] { 2 * loss; }), "used after its tape has ended"));
  CHECK(contains(error_of([&] { loss.named("loss"); }), "used after its tape has ended"));
}
