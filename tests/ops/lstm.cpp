#include "attn/ops/lstm.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/lstm_op.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

template <class T>
using Lstm = LstmOp<Cpu<T>>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE_TEMPLATE("lstm: a single unit matches the formula step by step", T, float, double) {
  constexpr double kTolerance = sizeof(T) == 8 ? 1e-14 : 3e-7;
  Cpu<T> device(1);
  Lstm<T> op(device, {"", {2}, 1, true});
  op.input.write({0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8});
  op.recurrent.write({1, -1, 0.5, 2});
  op.h0.write({0.25});
  op.c0.write({-0.5});
  op.forward();
  double h = 0.25, c = -0.5;
  Numbers gates, hs, cs, before;
  for (const auto& x : {Numbers{0.1, 0.2, 0.3, 0.4}, Numbers{-0.5, 0.6, 0.7, -0.8}}) {
    const double i = sigmoid(x[0] + h), f = sigmoid(x[1] - h), g = std::tanh(x[2] + 0.5 * h), o = sigmoid(x[3] + 2 * h);
    before.push_back(h);
    c = f * c + i * g;
    h = o * std::tanh(c);
    for (const double gate : {i, f, g, o}) gates.push_back(gate);
    hs.push_back(h);
    cs.push_back(c);
  }
  CHECK(distance(op.gates.read(), gates) <= kTolerance);
  CHECK(distance(op.h.read(), hs) <= kTolerance);
  CHECK(distance(op.c.read(), cs) <= kTolerance);
  CHECK(distance(op.previous.read(), before) <= kTolerance);
  CHECK(distance(op.last_h.read(), {h}) <= kTolerance);
  CHECK(distance(op.last_c.read(), {c}) <= kTolerance);
}

TEST_CASE("lstm: open gates sum the inputs") {
  Cpu<double> device(1);
  Lstm<double> op(device, {"", {3}, 1});
  op.recurrent.write({0, 0, 0, 0});
  // i = f = o = 1, g = 1: c counts the steps.
  op.input.write({50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50});
  op.forward();
  CHECK(distance(op.c.read(), {1, 2, 3}) <= 1e-12);
  CHECK(distance(op.h.read(), {0.7615941559557649, 0.9640275800758169, 0.9950547536867305}) <= 1e-12);
  CHECK(op.previous.read()[0] == 0);
}

TEST_CASE("lstm: gradients through time match finite differences") {
  Cpu<double> device(2);
  for (const LstmCase& shape : lstm_cases()) {
    CAPTURE(shape.name);
    Lstm<double> op(device, shape);
    op.forward();
    const LstmGradients d = op.backward();
    const Numbers previous = op.previous.read();
    const auto loss = [&] { return op.loss(); };
    check_gradient("the gates' input", op.input, d.dgates, loss);
    if (shape.states) {
      check_gradient("h0", op.h0, d.dh0, loss);
      check_gradient("c0", op.c0, d.dc0, loss);
    }
    // The recurrent weights' gradient is a product over all rows.
    Numbers drecurrent(static_cast<std::size_t>(4 * op.width * op.width));
    for (Index row = 0; row < op.total; ++row)
      for (Index i = 0; i < 4 * op.width; ++i)
        for (Index j = 0; j < op.width; ++j)
          drecurrent[static_cast<std::size_t>(i * op.width + j)] +=
              d.dgates[static_cast<std::size_t>(row * 4 * op.width + i)] *
              previous[static_cast<std::size_t>(row * op.width + j)];
    check_gradient("recurrent", op.recurrent, drecurrent, loss);
  }
}

TEST_CASE_TEMPLATE("lstm: an empty sentence keeps its initial state and passes its gradient through", T, float, double) {
  Cpu<T> device(2);
  for (const bool states : {false, true}) {
    Lstm<T> op(device, {"", {2, 0, 1}, 3, states});
    op.forward();
    const LstmGradients d = op.backward();
    for (std::size_t j = 3; j < 6; ++j) {
      CHECK(op.last_h.read()[j] == (states ? op.h0.read()[j] : 0));
      CHECK(op.last_c.read()[j] == (states ? op.c0.read()[j] : 0));
      if (!states) continue;
      CHECK(d.dh0[j] == op.dlast_h.read()[j]);
      CHECK(d.dc0[j] == op.dlast_c.read()[j]);
    }
  }
}

TEST_CASE_TEMPLATE("lstm: gradients of initial states can accumulate and dgates may replace the gates", T, float, double) {
  Cpu<T> device(2);
  Lstm<T> op(device, {"", {3, 0, 2}, 5, true});
  op.forward();
  const LstmGradients set = op.backward(), added = op.backward(true, 10);
  CHECK(distance(added.dh0, sum_of(set.dh0, Numbers(15, 10))) <= 1e-5);
  CHECK(distance(added.dc0, sum_of(set.dc0, Numbers(15, 10))) <= 1e-5);
  lstm_gradient(device,
                {.forward = op.args(), .dh = op.dh, .dlast_h = op.dlast_h, .dlast_c = op.dlast_c, .dgates = op.gates});
  CHECK(same_bits(op.gates.read(), set.dgates));
}

TEST_CASE("lstm: gradients that are not passed count as 0") {
  Cpu<double> device(1);
  Lstm<double> op(device, {"", {3, 1}, 4, true});
  op.forward();
  const auto run = [&](attn::Matrix<const double> dh, attn::Matrix<const double> dlast_h,
                       attn::Matrix<const double> dlast_c) {
    const Tensor<Cpu<double>> dgates(device, op.total, 16);
    lstm_gradient(device, {.forward = op.args(), .dh = dh, .dlast_h = dlast_h, .dlast_c = dlast_c, .dgates = dgates});
    return dgates.read();
  };
  const Numbers parts =
      sum_of(sum_of(run(op.dh, {}, {}), run({}, op.dlast_h, {})), run({}, {}, op.dlast_c));  // it is linear in them
  CHECK(distance(run(op.dh, op.dlast_h, op.dlast_c), parts) <= 1e-14);
  CHECK(run({}, {}, {}) == Numbers(64, 0));
}

TEST_CASE_TEMPLATE("lstm: the backward direction equals the forward direction on a reversed sentence", T, float, double) {
  Cpu<T> device(1);
  constexpr std::size_t kWidth = 6, kLength = 4;
  Lstm<T> there(device, {"", {4}, 6, true}), back(device, {"", {4}, 6, true, true});
  const auto turned = [&](const Numbers& rows, std::size_t width) {
    Numbers result;
    for (std::size_t i = kLength; i-- > 0;)
      result.insert(result.end(), rows.begin() + static_cast<std::ptrdiff_t>(i * width),
                    rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    return result;
  };
  back.input.write(turned(there.input.read(), 4 * kWidth));
  there.forward();
  back.forward();
  CHECK(same_bits(turned(back.h.read(), kWidth), there.h.read()));
  CHECK(same_bits(back.last_h.read(), there.last_h.read()));
  CHECK(same_bits(back.last_c.read(), there.last_c.read()));
}

TEST_CASE_TEMPLATE("lstm: a sentence has the same bits alone and in a batch and step by step", T, float, double) {
  Cpu<T> device(2);
  const std::vector<std::int32_t> lengths = {4, 7, 1, 7, 5, 6, 3};
  Lstm<T> batch(device, {"", lengths, 9, true});
  batch.forward();
  std::size_t first = 0;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const auto part = [](const Numbers& all, std::size_t from, std::size_t count) {
      return Numbers(all.begin() + static_cast<std::ptrdiff_t>(from),
                     all.begin() + static_cast<std::ptrdiff_t>(from + count));
    };
    const auto length = static_cast<std::size_t>(lengths[s]);
    Lstm<T> alone(device, {"", {lengths[s]}, 9, true}), step(device, {"", {1}, 9, true});
    alone.input.write(part(batch.input.read(), first * 36, length * 36));
    alone.h0.write(part(batch.h0.read(), s * 9, 9));
    alone.c0.write(part(batch.c0.read(), s * 9, 9));
    step.h0.write(alone.h0.read());
    step.c0.write(alone.c0.read());
    alone.forward();
    CHECK(same_bits(alone.h.read(), part(batch.h.read(), first * 9, length * 9)));
    for (std::size_t t = 0; t < length; ++t) {
      step.input.write(part(alone.input.read(), t * 36, 36));
      step.forward();
      CHECK(same_bits(step.h.read(), part(alone.h.read(), t * 9, 9)));
      step.h0.write(step.last_h.read());
      step.c0.write(step.last_c.read());
    }
    CHECK(same_bits(step.c0.read(), part(batch.last_c.read(), s * 9, 9)));
    first += length;
  }
}

TEST_CASE_TEMPLATE("lstm: results do not depend on the number of threads", T, float, double) {
  std::vector<LstmCase> cases = lstm_cases();
  LstmCase many{"more sentences than a group", {}, 8, true};
  for (std::int32_t i = 0; i < 120; ++i) many.lengths.push_back(i * 7 % 11);
  cases.push_back(many);
  for (const LstmCase& shape : cases) {
    CAPTURE(shape.name);
    check_threads<T>([&](Cpu<T>& device) { return Lstm<T>(device, shape).everything(); });
  }
}

TEST_CASE_TEMPLATE("lstm: huge inputs saturate the gates and stay finite", T, float, double) {
  Cpu<T> device(1);
  Lstm<T> op(device, {"", {2}, 1});
  op.input.write({1e4, 1e4, -1e4, 1e4, -1e4, 1e4, 1e4, -1e4});
  op.recurrent.write({1, 1, 1, 1});
  op.forward();
  CHECK(distance(op.c.read(), {-1, -1}) <= 1e-6);
  CHECK(distance(op.h.read(), {-0.7615941559557649, 0}) <= 1e-6);
  const Numbers dgates = op.backward().dgates;
  CHECK(std::isfinite(dot(dgates, dgates)));
}

TEST_CASE_TEMPLATE("lstm: inference without saved gates gives the same states", T, float, double) {
  for (const int threads : {1, 2}) {
    Cpu<T> device(threads);
    for (const LstmCase& shape : lstm_cases()) {
      CAPTURE(shape.name);
      LstmOp<Cpu<T>> keeps(device, shape), forgets(device, shape);
      forgets.keep = false;
      keeps.forward();
      forgets.forward();
      CHECK(same_bits(forgets.h.read(), keeps.h.read()));
      CHECK(same_bits(forgets.last_h.read(), keeps.last_h.read()));
      CHECK(same_bits(forgets.last_c.read(), keeps.last_c.read()));
    }
  }
}

TEST_CASE("lstm: inference accepts no space for last states and starts from cells of 0") {
  Cpu<double> device(2);
  LstmOp<Cpu<double>> op(device, {"", {1, 1, 1}, 5, true});
  op.keep = false;
  const auto run = [&](auto&& change) {
    op.gates.write(op.input.read());
    auto args = op.args();
    change(args);
    lstm(device, args);
    return op.h.read();
  };
  const Numbers expected = run([](auto&) {});
  CHECK(same_bits(run([](auto& args) { args.last_h = {}, args.last_c = {}; }), expected));
  const Numbers from_zero = run([](auto& args) { args.c0 = {}; });
  op.c0.write(Numbers(15));
  CHECK(same_bits(run([](auto&) {}), from_zero));
}
