#include "attn/nn/lstm.hpp"

#include "support/model_tools.hpp"
#include "support/time_major.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

const Sentences text = random_sentences({3, 0, 5, 1}, 10, 1);  // 9 rows

/// mixture() of the outputs and of every last state.
template <class Result>
double mixture_of_all(Tape<D>& tape, const Result& y) {
  double sum = mixture(tape, y.h);
  for (const auto& state : y.last) sum += mixture(tape, state.h) + mixture(tape, state.c);
  return sum;
}

}  // namespace

TEST_CASE("lstm: gradients are correct for both directions and for one direction alone") {
  D device;
  BidirectionalLstm<D, 3, 6> layer;
  Input<D, 3> x(9);
  Input<D, 6> h0(4), c0(4);
  Together model(layer, x, h0, c0);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  check_gradients(parameters, [&](Tape<D>& tape) {
    const auto y = layer(x(tape), time_major(tape, text), {h0(tape), c0(tape)});
    return mixture(tape, y.h) + mixture(tape, y.last.c);  // nothing depends on the last h
  });
}

TEST_CASE("lstm: gradients are correct through a stack with dropout and learned initial states") {
  D device;
  LstmStack<D, 3, 4, 3, BidirectionalLstm> stack(0.4f);
  LearnedStates<D, 4, 3> start;
  Input<D, 3> x(9);
  Together model(stack, start, x);
  Parameters<D> parameters(device, model, 2);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) {
    return mixture_of_all(tape, stack(x(tape), time_major(tape, text), start(tape, 4)));
  };
  check_gradients(parameters, loss);
  check_gradients(parameters, loss, TapeMode::training(1, 2));
}

TEST_CASE("lstm: dropout applies only between layers") {
  D device;
  const auto outputs = [&](const auto& stack, bool drop) {
    TapeMode mode = TapeMode::training(3, 4);
    mode.dropout = drop;
    Tape<D> tape(device, mode);
    auto x = tape.make(9, 2);
    for (Index i = 0; i < 18; ++i) x.value.data[i] = std::cos(static_cast<double>(i));
    return rows_of(stack(x, time_major(tape, text)).h);
  };
  LstmStack<D, 2, 3, 1> one(0.5f);
  LstmStack<D, 2, 3, 2> two(0.5f);
  Together model(one, two);
  Parameters<D> parameters(device, model, 1);
  CHECK(largest_difference(outputs(one, true), outputs(one, false)) == 0);
  CHECK(largest_difference(outputs(two, true), outputs(two, false)) > 1e-3);
}

TEST_CASE("lstm: initial parameters follow PyTorch's bound and are named by layer") {
  D device;
  LstmStack<D, 3, 4, 2, BidirectionalLstm> stack;
  Parameters<D> parameters(device, stack, 1);
  REQUIRE(parameters.entries().size() == 12);
  CHECK(parameters.entries()[0].name == "0.forward.input");
  CHECK(parameters.entries()[11].name == "1.backward.bias");
  CHECK(parameters.find("0.backward.recurrent").rows == 8);
  CHECK(parameters.find("1.forward.input").cols == 4);
  double most = 0;
  for (const auto& entry : parameters.entries())
    for (const double number : parameters.read(entry)) most = std::max(most, std::abs(number));
  CHECK(most <= std::sqrt(0.5));
  CHECK(most > 0.9 * std::sqrt(0.5));
}

TEST_CASE("lstm: accepts empty sentences and batches") {
  D device;
  BidirectionalLstm<D, 3, 4> layer;
  Parameters<D> parameters(device, layer, 1);
  Tape<D> tape(device, TapeMode::gradients());
  const auto none = layer(tape.make(0, 3), time_major(tape, Sentences{}));
  CHECK(none.h.rows() == 0);
  CHECK(none.last.h.rows() == 0);
  const auto empty = layer(tape.make(0, 3), time_major(tape, Sentences{{}, {}}));
  CHECK(rows_of(empty.last.h) == std::vector<double>(8, 0));
  mixture(tape, none.h);
  mixture(tape, empty.last.c);
  tape.backward();
  for (const auto& entry : parameters.entries())
    for (const double number : parameters.read_gradient(entry)) CHECK(number == 0);
}

TEST_CASE("lstm: step-by-step results have the same bits as whole sentences when sentences leave") {
  using F = Cpu<float>;
  F device;
  LstmStack<F, 3, 20, 2> stack;
  LearnedStates<F, 20, 2> start;
  Together model(stack, start);
  Parameters<F> parameters(device, model, 5);
  const std::vector<std::int32_t> lengths = {4, 1, 6, 3}, offsets = {0, 4, 5, 11, 14};

  Tape<F> tape(device);
  auto x = tape.make(14, 3);
  Random random(3);
  for (Index i = 0; i < 42; ++i) x.value.data[i] = static_cast<float>(random.normal());
  const TimeMajor layout = time_major(tape, upload_offsets(tape, offsets.data(), 4), offsets.data());
  const auto whole = stack(x, layout, start(tape, 4));

  LstmCache<F, 20> memory(tape, 4, 2, 20, start(tape, 4));
  for (std::int32_t t = 0; t < 6; ++t) {
    Tape<F> step(device);
    std::vector<std::int32_t> alive, rows;
    for (std::size_t s = 0; s < 4; ++s)
      if (t < lengths[s]) alive.push_back(static_cast<std::int32_t>(s)), rows.push_back(offsets[s] + t);
    const auto count = static_cast<Index>(alive.size());
    const auto* places = step.upload(alive.data(), count);
    const auto words = gather_rows(x, step.upload(rows.data(), count), count);
    const auto y = stack(words, one_step(step, count), memory.read(step, places, count));
    memory.write(step, y.last, places);
    for (Index i = 0; i < count; ++i) CHECK(rows_of(y.h, i, 1) == rows_of(whole.h, rows[static_cast<std::size_t>(i)], 1));
  }
  const std::vector<std::int32_t> all = {0, 1, 2, 3};
  const auto last = memory.read(tape, tape.upload(all.data(), 4), 4);
  const auto where_they_are = memory.read(tape, nullptr, 4);  // all, in their order
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(rows_of(last[i].h) == rows_of(whole.last[i].h));
    CHECK(rows_of(last[i].c) == rows_of(whole.last[i].c));
    CHECK(rows_of(where_they_are[i].h) == rows_of(whole.last[i].h));
    CHECK(rows_of(where_they_are[i].c) == rows_of(whole.last[i].c));
  }
}

TEST_CASE("lstm: a memory without initial states starts at 0 and rejects recording tapes") {
  D device;
  Tape<D> tape(device);
  LstmCache<D, 4> memory(tape, 2, 1, 4, {});
  const TimeMajor both = one_step(tape, 2);
  CHECK(rows_of(memory.read(tape, both.order, 2)[0].c) == std::vector<double>(8, 0));
  Tape<D> recording(device, TapeMode::gradients());
  CHECK(complaint([&] { memory.read(recording, both.order, 2); }).find("the tape records gradients") != std::string::npos);
}
