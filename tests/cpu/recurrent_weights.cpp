#include "attn/cpu/linear.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/lstm_op.hpp"

using attn::Cpu;
using attn::Index;

namespace {

using D = Cpu<float>;

/// What an LSTM gives whose recurrent weights the device holds, or not.
template <class T>
Numbers states(LstmOp<Cpu<T>>& op, bool held) {
  auto& weights = op.device.weights();
  const Index count = 4 * op.width * op.width;
  if (held) weights.cache(op.recurrent.data(), count);
  op.forward();
  weights.forget(op.recurrent.data(), count);
  Numbers all = op.h.read();
  for (const auto* more : {&op.last_h, &op.last_c})
    for (const double number : more->read()) all.push_back(number);
  return all;
}

LstmCase many_sentences() {
  LstmCase many{"more sentences than a group", {}, 70, true};
  for (std::int32_t i = 0; i < 120; ++i) many.lengths.push_back(i * 7 % 5);
  return many;
}

}  // namespace

TEST_CASE_TEMPLATE("recurrent weights: cached weights give the same bits as weights packed per call", T, float, double) {
  Cpu<T> device(2);
  for (const LstmCase& shape : lstm_cases()) {
    CAPTURE(shape.name);
    LstmOp<Cpu<T>> op(device, shape);
    const Numbers expected = states(op, false);
    CHECK(same_bits(states(op, true), expected));
  }
}

TEST_CASE("int8 recurrent weights: a step on values exact in int8 equals the float step") {
  D device({.threads = 1, .int8_weights = true});
  LstmOp<D> op(device, {"", {1, 1}, 2, true});
  op.recurrent.write({127, -3, 2, 254, 0.5, 63.5, 0, 0, -127, 1, 63.5, 0.5, 1, 1, 1e-3, 1.27e-1});
  op.h0.write({0.5, -0.25, 127, 64});  // -63.5 lies between -64 and -63: the even one
  const Numbers rounded = states(op, true);
  op.h0.write({0.5, -64 * 0.5 / 127, 127, 64});
  CHECK(distance(rounded, states(op, false)) <= 1e-6);
}

TEST_CASE("int8 recurrent weights: a step equals the float step on rounded weights and states") {
  D plain(2), int8({.threads = 2, .int8_weights = true});
  for (const std::size_t sentences : {1U, 4U, 5U, 40U, 130U}) {
    CAPTURE(sentences);
    const LstmCase step{"a step", std::vector<std::int32_t>(sentences, 1), 70, true};
    LstmOp<D> in_float(plain, step), in_int8(int8, step);
    const Numbers exact = states(in_float, true);
    CHECK(same_bits(states(in_int8, false), exact));  // not held: nothing is rounded
    const auto round = [](Tensor<D>& rows, Index count, Index width) {
      Numbers numbers;
      std::vector<std::int8_t> q(static_cast<std::size_t>(width));
      for (Index i = 0; i < count; ++i) {
        const float scale = attn::cpu::quantise(rows.data() + i * width, width, 0, q.data());
        for (const std::int8_t number : q) numbers.push_back(scale * static_cast<float>(number));
      }
      rows.write(numbers);
    };
    round(in_float.h0, in_float.count, step.width);
    round(in_float.recurrent, 4 * step.width, step.width);
    const Numbers rounded = states(in_int8, true);
    CHECK(distance(rounded, exact) > 1e-4);
    CHECK(distance(rounded, states(in_float, true)) <= 1e-5);
  }
}

TEST_CASE("int8 recurrent weights: a sentence does not depend on the batch or the number of threads") {
  const LstmCase many = many_sentences();
  D one({.threads = 1, .int8_weights = true});
  LstmOp<D> op(one, many);
  const Numbers expected = states(op, true), h = op.h.read();
  for (const int threads : {2, 3}) {
    D device({.threads = threads, .int8_weights = true});
    LstmOp<D> other(device, many);
    CHECK(same_bits(states(other, true), expected));
  }
  const auto part = [](const Numbers& all, Index from, Index count) {
    return Numbers(all.begin() + from, all.begin() + from + count);
  };
  Index first = 0;
  for (std::size_t s = 0; s < 12; ++s) {
    const Index length = many.lengths[s], width = many.width;
    LstmOp<D> alone(one, {"", {many.lengths[s]}, width, true});
    alone.input.write(part(op.input.read(), first * 4 * width, length * 4 * width));
    alone.h0.write(part(op.h0.read(), static_cast<Index>(s) * width, width));
    alone.c0.write(part(op.c0.read(), static_cast<Index>(s) * width, width));
    states(alone, true);
    CHECK(same_bits(alone.h.read(), part(h, first * width, length * width)));
    first += length;
  }
}

TEST_CASE("int8 recurrent weights: an inference step has the same bits for any division among threads") {
  const auto check = [](Index width, std::size_t sentences) {
    CAPTURE(width);
    CAPTURE(sentences);
    const LstmCase step{"a step", std::vector<std::int32_t>(sentences, 1), width, true, false, 3};
    D one({.threads = 1, .int8_weights = true});
    LstmOp<D> op(one, step);
    const Numbers expected = states(op, true);
    for (const int threads : {1, 2, 3}) {
      D device({.threads = threads, .int8_weights = true});
      LstmOp<D> other(device, step);
      other.keep = false;
      CHECK(same_bits(states(other, true), expected));
    }
  };
  for (const Index width : {70, 128, 512})  // of 512, R is large
    for (const std::size_t sentences : {1U, 4U, 5U, 35U}) check(width, sentences);
  check(520, 5);  // R is large, and 520 is not a multiple of any panel
}
