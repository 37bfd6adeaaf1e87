#include "attn/tape/layer_norm.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

namespace {

/// Checks the gradients of y = function(x, branch, gain, bias) of width 5, recorded in this mode.
template <class Function>
void check(TapeMode mode, const Function& function) {
  Device device(2);
  Tensor<Device> x(device, 4, 5, random_numbers(20, 1)), branch(device, 4, 5, random_numbers(20, 2));
  TestParameter<Device> gain(device, 5, 1, 3), bias(device, 5, 1, 4);
  const Numbers dy = random_numbers(20, 5);
  TapeMode forward = mode;
  forward.record = false;
  const auto loss = [&] {
    Tape tape(device, forward);
    return dot(dy, values(tape, function(input<5>(tape, x.read()), input<5>(tape, branch.read()), gain, bias)));
  };
  Tape tape(device, mode);
  const auto in = input<5>(tape, x.read()), side = input<5>(tape, branch.read());
  contribute(tape, function(in, side, gain, bias), dy);
  tape.backward();
  check_gradient("x", x, gradient(tape, in), loss);
  if (!gradient(tape, side).empty()) check_gradient("branch", branch, gradient(tape, side), loss);
  check_gradient("gain", gain.numbers, gain.gradients.read(), loss);
  check_gradient("bias", bias.numbers, bias.gradients.read(), loss);
}

const TapeMode modes[] = {TapeMode::gradients(), TapeMode::training(1, 2)};

}  // namespace

TEST_CASE("layer_norm: gradients on a tape match finite differences") {
  check(TapeMode::gradients(), [](auto x, auto, auto& gain, auto& bias) { return attn::layer_norm(x, gain, bias); });
}

TEST_CASE("residual_layer_norm: gradients match finite differences with and without dropout") {
  for (const TapeMode mode : modes)
    check(mode, [](auto x, auto branch, auto& gain, auto& bias) {
      return attn::residual_layer_norm(x, branch, gain, bias, x.tape().dropout(0.4f));
    });
}

TEST_CASE("rms_norm: gradients with and without residual match finite differences") {
  check(TapeMode::gradients(), [](auto x, auto, auto& gain, auto&) { return attn::rms_norm(x, gain); });
  for (const TapeMode mode : modes)
    check(mode, [](auto x, auto branch, auto& gain, auto&) {
      return attn::residual_layer_norm(x, branch, gain, {}, x.tape().dropout(0.4f), false);
    });
}

TEST_CASE("residual: gradients match finite differences with and without dropout") {
  for (const TapeMode mode : modes)
    check(mode, [](auto x, auto branch, auto&, auto&) { return attn::evaluated(x + attn::dropout(branch, 0.4f)); });
}

TEST_CASE("residual: a branch that is the same variable gets both gradients") {
  for (const TapeMode mode : modes) {
    check(mode, [](auto x, auto, auto&, auto&) { return attn::evaluated(x + attn::dropout(x, 0.4f)); });
    check(mode, [](auto x, auto, auto& gain, auto& bias) {
      return attn::residual_layer_norm(x, x, gain, bias, x.tape().dropout(0.4f));
    });
  }
}
