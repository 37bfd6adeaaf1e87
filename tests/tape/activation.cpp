#include "attn/tape/activation.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::ActivationKind;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("activations on the tape: gradients are those of differences and add up") {
  for (const auto kind : {ActivationKind::relu, ActivationKind::gelu, ActivationKind::gelu_exact, ActivationKind::swish}) {
    Device device(2);
    Tensor<Device> x(device, 3, 5, random_numbers(15, 1, 2));
    const Numbers dy = random_numbers(15, 2);
    Tape tape(device, attn::TapeMode::gradients());
    const auto in = input<5>(tape, x.read());
    contribute(tape, attn::activation(tape, in, kind), dy);
    contribute(tape, in, Numbers(15, 0));  // somebody else was there before
    tape.backward();
    check_gradient("x", x, gradient(tape, in), [&] {
      Tape again(device);
      return dot(dy, values(again, attn::activation(again, input<5>(again, x.read()), kind)));
    });
  }
}
