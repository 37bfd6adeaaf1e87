#include "attn/tape/loss.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/linear.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::Index;
using attn::TapeMode;
using attn::Token;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;
using Loss = attn::Loss<Device>;

namespace {

const std::vector<Token> kLabels{2, 6, 0, 2}, kOthers{1, 1, 3, 5};

/// Counts how often a term is computed, without and with its gradient.
struct Runs {
  int forward = 0, backward = 0;
};

/// The sum of x² / 2, divided by 4: a term as a user writes it.
Loss half_squares(Variable x, Runs* runs = nullptr) {
  constexpr double kNormalizer = 4;
  return Loss(x.tape(), "half_squares", kNormalizer, x.slot != nullptr,
              [x, runs](Tape& tape, double* sums, const double* weight) {
                if (runs != nullptr) ++(weight == nullptr ? runs->forward : runs->backward);
                double sum = 0;
                for (Index i = 0; i < x.rows(); ++i)
                  for (Index j = 0; j < x.cols(); ++j) sum += x.value(i, j) * x.value(i, j) / 2;
                sums[0] += sum, sums[1] += sum;
                if (weight == nullptr || x.slot == nullptr) return;
                const auto dx = tape.sink(x);
                for (Index i = 0; i < x.rows(); ++i)
                  for (Index j = 0; j < x.cols(); ++j) dx.put(dx.to(i, j), *weight / kNormalizer * x.value(i, j));
              });
}

/// Two cross-entropies and a term of their hidden states.
struct Case {
  Device device{2};
  Tensor<Device> x{device, 4, 5, random_numbers(20, 1)};
  TestParameter<Device> weight{device, 7, 5, 2}, bias{device, 7, 1, 3}, layer{device, 5, 5, 4};

  struct Terms {
    Variable in;
    Loss first, second, squares;
  };
  Terms terms(Tape& tape, Runs* runs = nullptr) {
    const Variable in = input<5>(tape, x.read()), h = attn::linear(in, layer);
    return {in, attn::cross_entropy(h, weight, bias, kLabels.data(), {.amount = 0.1}),
            attn::cross_entropy(h, weight, bias, kOthers.data(), {.normalizer = 10}), half_squares(h, runs)};
  }
  void clear() {
    for (auto* parameter : {&weight, &bias, &layer})
      parameter->gradients.write(Numbers(static_cast<std::size_t>(parameter->size()), 0));
  }

  struct Found {
    double value = 0;
    Numbers gradients;
  };
  /// The value and all gradients of the loss that combine(terms) gives.
  template <class Combine>
  Found gradients_of(const Combine& combine) {
    clear();
    Tape tape(device, TapeMode::gradients());
    const Terms all = terms(tape);
    Loss loss = combine(all);
    loss.backward();
    return {loss.value(),
            joined({gradient(tape, all.in), weight.gradients.read(), bias.gradients.read(), layer.gradients.read()})};
  }
};

}  // namespace

TEST_CASE("loss: sums and multiples have the right value and gradients match finite differences") {
  Case all;
  const auto combine = [](const Case::Terms& t) { return t.first + 0.5 * t.second - t.squares / 4 + (-t.second) * 2; };
  const auto value = [&] {
    Tape tape(all.device);
    Loss loss = combine(all.terms(tape));
    return loss.value();
  };
  Tape alone(all.device);
  Case::Terms parts = all.terms(alone);
  CHECK(parts.first.value() == doctest::Approx(parts.first.read().loss / 4).epsilon(1e-14));
  CHECK(parts.second.value() == doctest::Approx(parts.second.read().loss / 10).epsilon(1e-14));
  CHECK(value() ==
        doctest::Approx(parts.first.value() - 1.5 * parts.second.value() - parts.squares.value() / 4).epsilon(1e-13));

  Tape tape(all.device, TapeMode::gradients());
  const auto terms = all.terms(tape);
  Loss loss = combine(terms);
  loss.backward();
  CHECK(loss.value() == doctest::Approx(value()).epsilon(1e-14));
  check_gradient("x", all.x, gradient(tape, terms.in), value);
  check_gradient("weight", all.weight.numbers, all.weight.gradients.read(), value);
  check_gradient("bias", all.bias.numbers, all.bias.gradients.read(), value);
  check_gradient("layer", all.layer.numbers, all.layer.gradients.read(), value);
}

TEST_CASE("loss: a term added twice counts twice and is computed once") {
  Case all;
  const auto doubled = all.gradients_of([](const auto& t) { return 2 * t.first; });
  const auto twice = all.gradients_of([](const auto& t) { return t.first + t.first; });
  CHECK(same_bits(twice.gradients, doubled.gradients));
  CHECK(twice.value == doctest::Approx(doubled.value).epsilon(1e-15));
  Runs runs;
  Tape tape(all.device, TapeMode::gradients());
  const auto terms = all.terms(tape, &runs);
  Loss loss = terms.squares + terms.first + terms.squares * 3 + terms.squares;
  loss.backward();
  loss.value();
  CHECK(runs.backward == 1);
  CHECK(runs.forward == 0);
}

TEST_CASE("loss: a term with total weight 0 has a value and no gradient") {
  Case all;
  const auto one = all.gradients_of([](const auto& t) { return t.first; });
  const auto cancelled = all.gradients_of([](const auto& t) { return t.first + t.squares - t.squares; });
  CHECK(same_bits(cancelled.gradients, one.gradients));
  CHECK(cancelled.value == doctest::Approx(one.value).epsilon(1e-13));
  Tape tape(all.device, TapeMode::gradients());
  Runs runs;
  const auto terms = all.terms(tape, &runs);
  Loss loss = terms.first + 0 * terms.squares;
  loss.backward();
  CHECK(runs.backward == 0);
  CHECK(loss.value() == doctest::Approx(one.value).epsilon(1e-14));
}

TEST_CASE("loss: terms are computed by value() or backward() and never twice") {
  Case all;
  const auto combine = [](const auto& t) { return t.first + 0.5 * t.squares; };
  const auto expected = all.gradients_of(combine);
  all.clear();
  Runs runs;
  Tape tape(all.device, TapeMode::gradients());
  const auto terms = all.terms(tape, &runs);
  Loss loss = combine(terms);
  CHECK(runs.forward == 0);  // nothing is computed before it is needed
  CHECK(loss.value() == doctest::Approx(expected.value).epsilon(1e-15));
  CHECK(loss.value() == doctest::Approx(expected.value).epsilon(1e-15));
  CHECK(runs.forward == 1);
  loss.backward();
  CHECK(runs.backward == 1);
  CHECK(loss.value() == expected.value);
  CHECK(runs.forward == 1);
  CHECK(runs.backward == 1);
}

TEST_CASE("loss: value() and evaluate() before backward() do not change gradients") {
  Case all;
  const auto combine = [](const auto& t) { return t.first + 0.5 * t.squares; };
  const auto expected = all.gradients_of(combine);
  const auto found = all.gradients_of([&](const auto& t) {
    Loss loss = combine(t);
    loss.value();
    loss.evaluate();
    return loss;
  });
  CHECK(same_bits(found.gradients, expected.gradients));
  CHECK(found.value == expected.value);
}

TEST_CASE("loss: a term without trainable parameters adds only to the value") {
  Case all;
  const auto expected = all.gradients_of([](const auto& t) { return t.first; });
  double numbers[] = {2, 4};
  Runs runs;
  const auto found = all.gradients_of([&](const auto& t) {
    return 3 * half_squares(t.in.tape().constant({numbers, 1, 2}), &runs) + t.first;
  });
  CHECK(same_bits(found.gradients, expected.gradients));
  CHECK(found.value == doctest::Approx(expected.value + 3 * 10.0 / 4).epsilon(1e-14));
  CHECK(runs.forward == 1);
  CHECK(runs.backward == 0);
}

TEST_CASE("loss: backward() without trainable parameters is an error but the value remains available") {
  Case all;
  for (auto* parameter : {&all.weight, &all.bias, &all.layer}) parameter->frozen = true;
  Tape tape(all.device, TapeMode::gradients());
  const auto x = tape.constant(all.x);
  Loss loss = attn::cross_entropy(attn::linear(x, all.layer), all.weight, all.bias, kLabels.data());
  CHECK(contains(error_of([&] { loss.backward(); }), "this loss depends on no trainable parameter"));
  CHECK(loss.value() > 0);
  all.bias.frozen = false;
  Loss learning = attn::cross_entropy(attn::linear(x, all.layer), all.weight, all.bias, kLabels.data());
  CHECK(error_of([&] { learning.backward(); }) == "");
}

TEST_CASE("loss: a second backward() on one tape is an error for any loss") {
  Case all;
  Tape tape(all.device, TapeMode::gradients());
  auto terms = all.terms(tape);
  terms.first.backward();
  const Numbers gradients = all.weight.gradients.read();
  CHECK(contains(error_of([&] { terms.first.backward(); }), "Add losses up before backward()"));
  CHECK(contains(error_of([&] { terms.second.backward(); }), "backward pass has already run"));
  CHECK(contains(error_of([&] { tape.backward(); }), "backward pass has already run"));
  CHECK(all.weight.gradients.read() == gradients);
  CHECK(terms.second.value() > 0);
}

TEST_CASE("loss: backward() on a tape that does not record is an error that names the right modes") {
  Case all;
  Tape tape(all.device);
  auto terms = all.terms(tape);
  const std::string sentence = error_of([&] { terms.first.backward(); });
  CHECK(contains(sentence, "this tape does not record"));
  CHECK(contains(sentence, "TapeMode::training(seed, step) or TapeMode::gradients()"));
  CHECK(terms.first.value() > 0);
}

TEST_CASE("loss: an empty loss is 0 and has no gradients and accepts terms") {
  Case all;
  Loss sum;
  CHECK(sum.value() == 0);
  CHECK(contains(error_of([&] { sum.backward(); }), "loss: no terms"));
  CHECK(contains(error_of([&] { sum.read(); }), "loss: no terms"));
  const auto expected = all.gradients_of([](const auto& t) { return t.first + t.squares; });
  const auto found = all.gradients_of([](const auto& t) {
    Loss growing;
    growing += t.first;
    growing += t.squares;
    return growing;
  });
  CHECK(same_bits(found.gradients, expected.gradients));
  CHECK(found.value == expected.value);
}

TEST_CASE("loss: terms keep order and names and weights and add their sums to the given places") {
  Case all;
  Tape tape(all.device);
  auto terms = all.terms(tape);
  Loss loss = terms.first + 0.5 * terms.squares.named("decay");
  std::vector<std::string> names;
  Numbers weights;
  loss.for_each([&](auto& term, double weight) { names.emplace_back(term.name), weights.push_back(weight); });
  CHECK(names == std::vector<std::string>{"cross_entropy", "decay"});
  CHECK(weights == Numbers{1, 0.5});
  CHECK(loss.labels() == 4);
  Tape plain(all.device);
  auto own = all.terms(plain);
  double sums[4] = {1, 2, 3, 4};
  loss.add_sums_to(sums);
  loss.evaluate();
  CHECK(sums[0] == doctest::Approx(1 + own.first.read().nll).epsilon(1e-14));
  CHECK(sums[1] == doctest::Approx(2 + own.first.read().loss).epsilon(1e-14));
  CHECK(sums[2] == doctest::Approx(3 + own.squares.read().loss).epsilon(1e-14));
  CHECK(sums[3] == doctest::Approx(4 + own.squares.read().loss).epsilon(1e-14));
}

TEST_CASE("loss: backward() on a tape without a loss is an error") {
  Case test;
  Tape tape(test.device, TapeMode::gradients());
  test.terms(tape);
  const auto passes = test.device.gradients.passes;
  CHECK(error_of([&] { tape.backward(); }) ==
        "backward: no gradient has been set on this tape. Call backward() of a loss.");
  CHECK(test.device.gradients.passes == passes);
}
