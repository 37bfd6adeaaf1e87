#include "attn/tape/transfer.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/columns.hpp"

using namespace attn;
using Host = Cpu<float>;

TEST_CASE("transfer: values are uploaded and downloaded by rows") {
  Host device;
  Tape<Host> tape(device);
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const Variable<Host> x = upload(tape, numbers, 2, 3);
  CHECK(x.rows() == 2);
  CHECK(x.cols() == 3);
  CHECK(x.value(1, 0) == 4);
  CHECK(download(x) == numbers);
}

TEST_CASE("transfer: slices and expressions download only their own columns") {
  Host device;
  Tape<Host> tape(device);
  const Variable<Host> x = upload(tape, {1, 2, 3, 4, 5, 6}, 2, 3);
  CHECK(download(slice(x, 1, 2)) == std::vector<float>{2, 3, 5, 6});
  CHECK(download(2 * x + 1) == std::vector<float>{3, 5, 7, 9, 11, 13});
  CHECK(download(upload(tape, {}, 0, 3)).empty());
}

TEST_CASE("transfer: uploaded values are constants") {
  Host device;
  Tape<Host> tape(device, TapeMode::gradients());
  CHECK(upload(tape, {1, 2}, 1, 2).slot == nullptr);
}

TEST_CASE("transfer: a wrong number of values is an Error") {
  Host device;
  Tape<Host> tape(device);
  CHECK_THROWS_WITH_AS(upload(tape, {1, 2, 3}, 2, 2), "upload: 3 numbers for an activation of 2 x 2", Error);
}

TEST_CASE("transfer: argmax returns the first maximum of each row to the host") {
  Host device;
  Tape<Host> tape(device);
  const Variable<Host> x = upload(tape, {1, 2, 3, 6, 5, 6, -4, -3, -5}, 3, 3);
  CHECK(argmax(x) == std::vector<Token>{2, 0, 1});
  CHECK(argmax(-x) == std::vector<Token>{0, 1, 2});
  CHECK(argmax(slice(x, 1, 2)) == std::vector<Token>{1, 1, 0});
  CHECK(argmax(slice(upload(tape, {}, 0, 3), 0, 2)).empty());
}

TEST_CASE("transfer: a token vector is a text of one sentence") {
  Host device;
  Tape<Host> tape(device);
  const Text text = upload(tape, std::vector<Token>{4, 2, 7});
  CHECK(text.rows.count == 1);
  CHECK(text.rows.rows == 3);
  CHECK(text.largest == 7);
  CHECK(std::vector<Token>(text.tokens, text.tokens + 3) == std::vector<Token>{4, 2, 7});
}
