#include "attn/tape/shift_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/text.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using namespace attn;
using Device = Cpu<double>;

TEST_CASE("shift_rows: moves rows within sentences") {
  Device device(1);
  Tape<Device> tape(device);
  const Variable<Device> x = input<2>(tape, {1, 2, 3, 4, 5, 6, 7, 8});
  const Ragged rows = upload(tape, Sentences{{1}, {}, {1, 1, 1}}).rows;
  CHECK(values(tape, shift_rows(x, rows, 1)) == Numbers{0, 0, 0, 0, 3, 4, 5, 6});
  CHECK(values(tape, shift_rows(x, rows, -1)) == Numbers{0, 0, 5, 6, 7, 8, 0, 0});
  CHECK(values(tape, shift_rows(x, rows, 2)) == Numbers{0, 0, 0, 0, 0, 0, 3, 4});
  CHECK(values(tape, shift_rows(x, rows, 0)) == values(tape, x));
  CHECK(values(tape, shift_rows(x, rows, 9)) == Numbers(8, 0));
  const Ragged none = upload(tape, Sentences{{}}).rows;
  CHECK(values(tape, shift_rows(Variable<Device>(input<2>(tape, {})), none, 1)).empty());
}

TEST_CASE("shift_rows: gradients match finite differences and accumulate") {
  const Sentences sentences{{1}, {}, {1, 1, 1, 1}};
  const Numbers dy = random_numbers(10, 1), more = random_numbers(10, 2);
  for (const Index by : {1, -1, 3, -2, 0, 5})
    for (const bool later : {false, true}) {
      CAPTURE(by);
      CAPTURE(later);
      Device device(1);
      Tensor<Device> x(device, 5, 2, random_numbers(10, 3));
      Tape<Device> tape(device, TapeMode::gradients());
      const Variable<Device> in = input<2>(tape, x.read());
      contribute(tape, shift_rows(in, upload(tape, sentences).rows, by), dy);
      if (later) contribute(tape, in, more);
      tape.backward();
      check_gradient("x", x, gradient(tape, in), [&] {
        Tape<Device> again(device);
        const Variable<Device> y = input<2>(again, x.read());
        return dot(dy, values(again, shift_rows(y, upload(again, sentences).rows, by))) + (later ? dot(more, x.read()) : 0);
      });
    }
}

TEST_CASE("shift_rows: needs the rows of the activation's text") {
  Device device(1);
  Tape<Device> tape(device);
  const Variable<Device> x = input<2>(tape, {1, 2, 3, 4});
  const Ragged other = upload(tape, Sentences{{1, 2, 3}}).rows;
  const Layout<Device> by_hand(device, {2});
  CHECK(contains(error_of([&] { shift_rows(x, other, 1); }), "shift_rows: the activation has 2 rows, but the text has 3"));
  CHECK(contains(error_of([&] { shift_rows(x, by_hand, 1); }), "shift_rows: the text is not known on the host"));
}
