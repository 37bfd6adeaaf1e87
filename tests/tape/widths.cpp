#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/input_feeding.hpp"
#include "attn/tape/layer_norm.hpp"
#include "attn/tape/linear.hpp"
#include "attn/tape/ragged_product.hpp"
#include "support/errors.hpp"
#include "support/tape.hpp"
#include "support/time_major.hpp"

// Widths that are known at run time only: operands that do not fit together are an Error that names the numbers.

using attn::Index;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

struct Case {
  Device device{1};
  Tape tape{device};
  TestParameter<Device> parameter(Index rows, Index cols) { return TestParameter<Device>(device, rows, cols, 1); }
  attn::Ragged one_sentence(std::int32_t rows) {
    const std::int32_t offsets[] = {0, rows};
    return attn::upload_offsets(tape, offsets, 1);
  }
};

}  // namespace

TEST_CASE("width errors: matrix products") {
  Case c;
  const Variable x = c.tape.make(2, 3);
  const auto w24 = c.parameter(2, 4), w43 = c.parameter(4, 3), w35 = c.parameter(3, 5), b4 = c.parameter(4, 1);
  CHECK(contains(error_of([&] { attn::linear(x, w24); }), "an input of 3 columns for a weight of 2 x 4"));
  CHECK(contains(error_of([&] { attn::linear_transposed(x, w24); }), "an input of 3 columns for a weight of 2 x 4"));
  CHECK(contains(error_of([&] { attn::feed_forward(x, w43, b4, w35, b4, 0); }),
                 "an input of 3 columns for weights of 4 x 3 and 3 x 5"));
  const attn::Token labels[] = {0, 1};
  CHECK(contains(error_of([&] { attn::cross_entropy(x, w24, b4, labels); }),
                 "hidden states of 3 columns for an output layer of 4"));
}

TEST_CASE("width errors: norms and residuals") {
  Case c;
  const Variable x = c.tape.make(2, 3), y = c.tape.make(2, 4), shorter = c.tape.make(1, 3);
  const auto three = c.parameter(3, 1), four = c.parameter(4, 1);
  CHECK(contains(error_of([&] { attn::layer_norm(x, four, four); }), "an input of 3 columns for a norm of width 4"));
  CHECK(contains(error_of([&] { attn::residual_layer_norm(x, y, three, three, {}); }), "2 x 3 and 2 x 4"));
  CHECK(contains(error_of([&] { attn::residual_layer_norm(x, shorter, three, three, {}); }), "2 x 3 and 1 x 3"));
}

TEST_CASE("width errors: attention") {
  Case c;
  const Variable q = c.tape.make(2, 6), k = c.tape.make(2, 4), v = c.tape.make(2, 3), longer = c.tape.make(3, 6);
  const attn::Ragged rows = c.one_sentence(2);
  CHECK(contains(error_of([&] { attn::attention(q, rows, {k, v, rows}, {}); }), "queries of 6 columns, but keys of 4"));
  CHECK(contains(error_of([&] { attn::attention(q, rows, {q, longer, rows}, {}); }), "2 keys, but 3 values"));
  CHECK(contains(error_of([&] {
                   attn::attention(q, rows, {q, v, rows}, {.heads = 2});
                 }),
                 "6 columns of queries and 3 of values are not multiples of 2 heads"));
  CHECK(contains(error_of([&] { attn::attention(q, rows, {q, q, rows}, {.heads = 0}); }), "multiples of 0 heads"));
  const auto u = c.parameter(4, 1), projection = c.parameter(4, 5);
  CHECK(contains(error_of([&] {
                   attn::additive_attention(q, rows, {k, v, rows}, u, false);
                 }),
                 "queries of 6 columns, but keys of 4"));
  CHECK(contains(error_of([&] {
                   attn::additive_attention(q, rows, {q, v, rows}, u, false);
                 }),
                 "queries of 6 columns for a vector of 4"));
  CHECK(contains(error_of([&] { attn::ragged_projection(q, rows, projection, 4); }),
                 "6 columns and a projection of 4 rows are not multiples of 4 blocks"));
}

TEST_CASE("width errors: recurrent layers") {
  Case c;
  const attn::TimeMajor layout = attn::one_step(c.tape, 2);
  const auto input = c.parameter(8, 3), recurrent = c.parameter(8, 2), bias = c.parameter(8, 1), mix = c.parameter(2, 4);
  const attn::LstmWeights<Device> weights{input, recurrent, bias};
  const auto made = attn::make_lstm_result(c.tape, layout, attn::Size<2>(), c.tape.make(0, 2));
  const attn::LstmResult<Device> y{made.h, {made.last.h, made.last.c}};
  const auto lstm_error = [&](Index in, Index state) {
    const Variable x = c.tape.make(2, in), h = c.tape.make(2, state);
    return error_of([&] { attn::lstm(x, layout, std::array{attn::LstmDirection<Device>{weights, {h, h}, y}}); });
  };
  CHECK(contains(lstm_error(5, 2), "an input of 5 columns for weights of 8 x 3, 8 x 2"));
  CHECK(contains(lstm_error(3, 4), "initial states of 4 (h) and 4 (c) columns for a width of 2"));
  const attn::InputFeedingWeights<Device> feeding{{weights}, mix, 0, 0};
  const Variable words = c.tape.make(2, 3), keys = c.tape.make(2, 2);
  CHECK(contains(error_of([&] {
                   attn::input_feeding(words, layout, {keys, keys, layout.rows}, 1, feeding);
                 }),
                 "words of 3 columns, keys of 2 and values of 2 for a layer with an input of 3 columns"));
}
