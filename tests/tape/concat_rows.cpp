#include "attn/tape/concat_rows.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using namespace attn;
using Device = Cpu<double>;

TEST_CASE("concat_rows: joins texts by sentence and gradients match finite differences") {
  Device device(1);
  Tensor<Device> a(device, 3, 2, random_numbers(6, 1)), b(device, 4, 2, random_numbers(8, 2));
  const Sentences first{{1}, {}, {1, 1}}, second{{1, 1}, {1}, {1}};
  const Numbers dy = random_numbers(14, 3), more = random_numbers(6, 4);
  const auto join = [&](Tape<Device>& tape, auto in_a, auto in_b) {
    return concat_rows(in_a, upload(tape, first).rows, in_b, upload(tape, second).rows);
  };
  Tape<Device> tape(device, TapeMode::gradients());
  const auto in_a = input<2>(tape, a.read()), in_b = input<2>(tape, b.read());
  const auto [y, rows] = join(tape, in_a, in_b);
  const Numbers x = a.read(), z = b.read();
  CHECK(values(tape, y) == Numbers{x[0], x[1], z[0], z[1], z[2], z[3], z[4], z[5], x[2], x[3], x[4], x[5], z[6], z[7]});
  CHECK(rows.count == 3);
  CHECK(rows.rows == 7);
  CHECK(rows.longest == 3);
  CHECK(std::vector<std::int32_t>(rows.offsets_on_host, rows.offsets_on_host + 4) == std::vector<std::int32_t>{0, 3, 4, 7});
  CHECK(rows.length(2) == 3);
  contribute(tape, y, dy);
  contribute(tape, in_a, more);
  tape.backward();
  const auto loss = [&] {
    Tape<Device> again(device);
    return dot(dy, values(again, join(again, input<2>(again, a.read()), input<2>(again, b.read())).first)) +
           dot(more, a.read());
  };
  check_gradient("a", a, gradient(tape, in_a), loss);
  check_gradient("b", b, gradient(tape, in_b), loss);
}

TEST_CASE("concat_rows: accepts no rows and repeated activations and rejects mismatched texts") {
  Device device(1);
  Tape<Device> tape(device, TapeMode::gradients());
  const auto x = input<2>(tape, {1, 2, 3, 4});
  const Ragged rows = upload(tape, Sentences{{1}, {1}}).rows, none = upload(tape, Sentences{{}, {}}).rows;
  const auto empty = input<2>(tape, {});
  CHECK(values(tape, concat_rows(x, rows, empty, none).first) == Numbers{1, 2, 3, 4});
  const auto twice = concat_rows(x, rows, x, rows).first;
  CHECK(values(tape, twice) == Numbers{1, 2, 1, 2, 3, 4, 3, 4});
  contribute(tape, twice, {1, 2, 3, 4, 5, 6, 7, 8});
  tape.backward();
  CHECK(gradient(tape, x) == Numbers{4, 6, 12, 14});
  const Ragged one = upload(tape, Sentences{{1, 1}}).rows;
  CHECK(error_of([&] { concat_rows(x, rows, x, one); }) == "concat_rows: 2 sentences of 2 columns with 1 of 2");
  CHECK(contains(error_of([&] { concat_rows(x, rows, x, none); }), "give each activation the rows of its text"));
}
