#include "attn/tape/embedding.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/linear.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/transfer.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("uploaded sentences: know their rows and longest length and token range") {
  Device device(1);
  Tape tape(device);
  const attn::Text text = upload(tape, attn::Sentences{{4, 9}, {}, {2, 7, 3}});
  CHECK(text.rows.count == 3);
  CHECK(text.rows.rows == 5);
  CHECK(text.rows.longest == 3);
  CHECK(text.rows.length(1) == 0);
  CHECK(text.tokens[4] == 3);
  CHECK(text.largest == 9);
  CHECK(text.smallest >= 0);
  CHECK(upload(tape, attn::Sentences{{1, -3}}).smallest == -3);
}

TEST_CASE("uploaded sentences: an empty batch can be uploaded and embedded") {
  Device device(1);
  TestParameter<Device> table(device, 3, 2, 1);
  Tape tape(device, TapeMode::gradients());
  const attn::Text text = upload(tape, attn::Sentences{});
  CHECK(text.rows.count == 0);
  CHECK(text.rows.longest == 0);
  const auto y = attn::embedding(tape, text, table, 1, {}, 0, 0);
  CHECK(y.rows() == 0);
  contribute(tape, y, {});
  tape.backward();
  CHECK(table.gradients.read() == Numbers(6, 0));
}

TEST_CASE("embedding: the gradient matches finite differences with and without dropout") {
  Device device(2);
  const attn::Sentences batch{{3, 3, 0}, {}, {1, 3}};
  const Tensor<Device> positions(device, 4, 5, random_numbers(20, 2));
  const Numbers dy = random_numbers(25, 3);
  for (const TapeMode mode : {TapeMode::gradients(), TapeMode::training(1, 2)}) {
    TestParameter<Device> table(device, 4, 5, 1);
    const auto run = [&](Tape& tape) {
      return attn::embedding(tape, upload(tape, batch), table, 2.5f, {positions}, 1, 0.3f);
    };
    Tape tape(device, mode);
    contribute(tape, run(tape), dy);
    tape.backward();
    TapeMode forward = mode;
    forward.record = false;
    check_gradient("table", table.numbers, table.gradients.read(), [&] {
      Tape again(device, forward);
      return dot(dy, values(again, run(again)));
    });
  }
}

TEST_CASE("embedding: a parameter as a variable has its values and accumulates gradients of all uses") {
  Device device(2);
  TestParameter<Device> weight(device, 4, 5, 1), vector(device, 3, 1, 2), none(device, 0, 5, 3);
  const auto loss = [&](Tape& tape) {
    const auto w = attn::variable(tape, weight);
    const auto v = attn::variable(tape, vector);
    const auto x = attn::linear(upload(tape, {1, -2, 0.5, 3, 0.25}, 1, 5), weight);
    return attn::sum(attn::square(w)) + attn::sum(attn::tanh(w)) + attn::sum(attn::exp(v)) + attn::sum(attn::square(x));
  };
  Tape tape(device, TapeMode::gradients());
  CHECK(values(tape, attn::variable(tape, weight)) == weight.numbers.read());
  CHECK(attn::variable(tape, vector).rows() == 3);
  CHECK(attn::variable(tape, vector).cols() == 1);
  CHECK(attn::variable(tape, none).rows() == 0);
  loss(tape).backward();
  for (auto* parameter : {&weight, &vector})
    check_gradient("parameter", parameter->numbers, parameter->gradients.read(), [&] {
      Tape again(device);
      return loss(again).value();
    });
  weight.frozen = true;
  CHECK(attn::variable(tape, weight).slot == nullptr);
}
