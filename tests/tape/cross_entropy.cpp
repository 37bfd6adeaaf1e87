#include "attn/tape/cross_entropy.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::LossOptions;
using attn::Smoothing;
using attn::TapeMode;
using attn::Token;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

namespace {

const std::vector<Token> kLabels{2, 6, 0, 2};

}  // namespace

TEST_CASE("cross_entropy: gradients on a tape match finite differences of the mean") {
  Device device(2);
  for (const Smoothing smoothing : {Smoothing::uniform, Smoothing::others})
    for (const double normalizer : {0.0, 10.0}) {
      const LossOptions options{smoothing, 0.1, normalizer};
      Tensor<Device> x(device, 4, 5, random_numbers(20, 1));
      TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
      const auto loss = [&] {
        Tape tape(device);
        const auto in = input<5>(tape, x.read());
        return attn::cross_entropy(in, weight, bias, kLabels.data(), options).value();
      };
      Tape tape(device, TapeMode::gradients());
      const auto in = input<5>(tape, x.read());
      auto result = attn::cross_entropy(in, weight, bias, kLabels.data(), options);
      CHECK(result.labels() == 4);
      result.backward();
      CHECK(result.value() == doctest::Approx(result.read().loss / (normalizer > 0 ? normalizer : 4)).epsilon(1e-14));
      check_gradient("x", x, gradient(tape, in), loss);
      check_gradient("weight", weight.numbers, weight.gradients.read(), loss);
      check_gradient("bias", bias.numbers, bias.gradients.read(), loss);
    }
}

TEST_CASE("cross_entropy: the loss does not depend on recording and without smoothing is the log-likelihood") {
  Device device(2);
  TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
  const auto run = [&](TapeMode mode, double amount) {
    Tape tape(device, mode);
    const auto in = input<5>(tape, random_numbers(20, 1));
    auto loss = attn::cross_entropy(in, weight, bias, kLabels.data(), {Smoothing::uniform, amount});
    if (tape.recording()) loss.backward();
    return loss.read();
  };
  CHECK(run(TapeMode::inference(), 0.1).loss == run(TapeMode::gradients(), 0.1).loss);
  CHECK(run(TapeMode::inference(), 0.1).nll == run(TapeMode::gradients(), 0).nll);
  CHECK(run(TapeMode::inference(), 0).loss == run(TapeMode::inference(), 0).nll);
  CHECK(run(TapeMode::inference(), 0.1).loss != run(TapeMode::inference(), 0.1).nll);
}

TEST_CASE("cross_entropy: the mean is over the labels") {
  Device device(1);
  TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
  Tape tape(device);
  auto loss = attn::cross_entropy(input<5>(tape, random_numbers(20, 1)), weight, bias, kLabels.data(), {.normalizer = 10});
  CHECK(loss.mean() == doctest::Approx(loss.read().nll / 4).epsilon(1e-15));
  CHECK(attn::cross_entropy(input<5>(tape, {}), weight, bias, kLabels.data(), {}).mean() == 0);
}

TEST_CASE("cross_entropy: two losses on one activation add their gradients") {
  Device device(2);
  TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
  const auto run = [&](int times) {
    Tape tape(device, TapeMode::gradients());
    const auto in = input<5>(tape, random_numbers(20, 1));
    attn::Loss<Device> loss;
    for (int i = 0; i < times; ++i) loss += attn::cross_entropy(in, weight, bias, kLabels.data(), {});
    loss.backward();
    return gradient(tape, in);
  };
  CHECK(distance(run(2), sum_of(run(1), run(1))) <= 1e-15);
}

TEST_CASE("cross_entropy: losses of several batches accumulate in sums owned by the caller") {
  Device device(2);
  TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
  double sums[2] = {100, 200};
  Tape tape(device);
  const auto in = input<5>(tape, random_numbers(20, 1));
  const auto own = attn::cross_entropy(in, weight, bias, kLabels.data(), {}).read();
  auto loss = attn::cross_entropy(in, weight, bias, kLabels.data(), {});
  loss.add_sums_to(sums);
  loss.evaluate();
  CHECK(sums[0] == doctest::Approx(100 + own.nll).epsilon(1e-14));
  CHECK(sums[1] == doctest::Approx(200 + own.loss).epsilon(1e-14));
}

TEST_CASE("cross_entropy: a loss without labels is 0 and has no gradient") {
  Device device(2);
  TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
  Tape tape(device, TapeMode::gradients());
  auto result = attn::cross_entropy(input<5>(tape, {}), weight, bias, nullptr, {});
  result.backward();
  CHECK(result.labels() == 0);
  CHECK(result.read().loss == 0);
  CHECK(weight.gradients.read() == Numbers(35, 0));
}

TEST_CASE("cross_entropy: a vocabulary large enough for chunked logits equals row-by-row results") {
  Device device(2);
  constexpr attn::Index kClasses = 1 << 20;  // four rows a chunk
  TestParameter<Device> weight(device, kClasses, 1, 1), bias(device, kClasses, 1, 2);
  const std::vector<Token> labels{5, 0, kClasses - 1, 7, 99, 3, 8, 8, 1, 2};
  const Numbers rows = random_numbers(10, 3);
  double nll = 0;
  Numbers dx;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Tape tape(device, TapeMode::gradients());
    const auto row = input<1>(tape, {rows[i]});
    auto loss = attn::cross_entropy(row, weight, bias, &labels[i], {.normalizer = 10});
    loss.backward();
    nll += loss.read().nll;
    dx.push_back(gradient(tape, row)[0]);
  }
  const Numbers dweight = weight.gradients.read();
  weight.gradients.write(Numbers(kClasses, 0));
  Tape tape(device, TapeMode::gradients());
  const auto x = input<1>(tape, rows);
  auto loss = attn::cross_entropy(x, weight, bias, labels.data(), {});
  loss.backward();
  CHECK(loss.read().nll == doctest::Approx(nll).epsilon(1e-13));
  CHECK(distance(gradient(tape, x), dx) <= 1e-12);
  CHECK(distance(weight.gradients.read(), dweight) <= 1e-12);
  CHECK(device.gradients.capacity() < std::size_t{7} * kClasses * sizeof(double));  // not ten rows
}
