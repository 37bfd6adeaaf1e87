#include "attn/tape/gather_columns.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/columns.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using attn::Token;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

TEST_CASE("gather_columns: takes one element of each row of activations and slices and expressions") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<3>(tape, {1, 2, 3, 4, 5, 6});
  const auto tokens = upload(tape, std::vector<Token>{2, 0});
  static_assert(decltype(gather_columns(x, tokens))::width == 1);
  const Variable y = gather_columns(x, tokens);
  CHECK(values(tape, y) == Numbers{3, 4});
  CHECK(values<Device>(tape, gather_columns(2 * x, tokens)) == Numbers{6, 8});
  CHECK(values<Device>(tape, gather_columns(slice(Variable(x), 1, 2), upload(tape, std::vector<Token>{1, 0}))) ==
        Numbers{3, 5});
  contribute(tape, y, {10, 20});
  tape.backward();
  CHECK(gradient<Device>(tape, x) == Numbers{0, 0, 10, 20, 0, 0});
}

TEST_CASE("gather_columns: gradients of repeated uses and slices match finite differences") {
  Device device(2);
  Tensor<Device> x(device, 4, 5, random_numbers(20, 1));
  const Numbers dy = random_numbers(4, 2);
  const auto function = [&](Tape& tape, const attn::Variable<Device, 5>& in) {
    const auto first = upload(tape, std::vector<Token>{0, 4, 2, 2}), second = upload(tape, std::vector<Token>{0, 1, 0, 1});
    return Variable(gather_columns(in, first) * gather_columns(tanh(in), first) +
                    gather_columns(slice(Variable(in), 1, 2), second));
  };
  Tape tape(device, TapeMode::gradients());
  const auto in = input<5>(tape, x.read());
  contribute(tape, function(tape, in), dy);
  tape.backward();
  check_gradient("x", x, gradient<Device>(tape, in), [&] {
    Tape again(device);
    return dot(dy, values(again, function(again, input<5>(again, x.read()))));
  });
}

TEST_CASE("gather_columns: no rows give an empty column and bad tokens are errors") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto none = gather_columns(input<3>(tape, {}), upload(tape, std::vector<Token>{}));
  CHECK(none.rows() == 0);
  const auto x = input<3>(tape, {1, 2, 3, 4, 5, 6});
  const auto error = [&](const std::vector<Token>& tokens) {
    return error_of([&] { gather_columns(x, upload(tape, tokens)); });
  };
  CHECK(error({0}) == "gather_columns: 1 tokens for 2 rows. Pass one per row.");
  CHECK(error({0, 3}) == "gather_columns: column 3 is out of range: there are 3 columns");
  CHECK(error({-1, 0}) == "gather_columns: column -1 is out of range: there are 3 columns");
  attn::Text computed = upload(tape, std::vector<Token>{0, 1});
  computed.tokens_on_host = nullptr;
  CHECK(contains(error_of([&] { gather_columns(x, computed); }), "the tokens are not on the host"));
  Variable huge = x;
  huge.value.rows = 2, huge.value.cols = std::numeric_limits<std::int32_t>::max();  // not read
  CHECK(contains(error_of([&] { gather_columns(huge, upload(tape, std::vector<Token>{0, 1})); }), "Use smaller batches"));
}
