#include "attn/tape/embedding.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

TEST_CASE("uploaded sentences know their rows, their longest and their range of tokens") {
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

TEST_CASE("a batch of no sentences can be uploaded and embedded") {
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

TEST_CASE("the gradient of embedding on a tape is that of differences, with dropout and without") {
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
