#include "attn/tape/losses.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/linear.hpp"
#include "attn/tape/reductions.hpp"
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

// The numbers of PyTorch:
//
// x = torch.tensor([[0.5, -1, 2, 0], [1.5, 0.25, -0.5, 1], [-2, 3, 0.75, -1]], requires_grad=True)
// t = torch.tensor([[1.0, 0, 0.5, 0.25], [0, 1, 1, 0.75], [0.5, 0, 0, 1]])
// labels = torch.tensor([2, 0, 3])
// for loss in (F.mse_loss(x, t), F.binary_cross_entropy_with_logits(x, t), F.cross_entropy(x, labels),
//              F.cross_entropy(x, labels, label_smoothing=0.1),
//              F.kl_div(F.log_softmax(x, -1), F.softmax(t, -1), reduction="batchmean"),
//              F.cross_entropy(x, labels) + 0.1 * x.square().mean()):
//     print(loss, torch.autograd.grad(loss, x))

namespace {

const Numbers kX{0.5, -1, 2, 0, 1.5, 0.25, -0.5, 1, -2, 3, 0.75, -1};
const Numbers kTargets{1, 0, 0.5, 0.25, 0, 1, 1, 0.75, 0.5, 0, 0, 1};

attn::Text labels_on(Tape& tape, const std::vector<Token>& labels) {
  attn::Sentences sentences;
  sentences.push_back(labels);
  return upload(tape, sentences);
}

/// Checks value and gradient of function(x, targets, labels).
template <class Function>
void check(const char* name, double value, const Numbers& expected, const Function& function) {
  CAPTURE(name);
  Device device(2);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<4>(tape, kX);
  Tensor<Device> targets(device, 3, 4, kTargets);
  Loss loss = function(x, tape.constant(targets), labels_on(tape, {2, 0, 3}));
  loss.backward();
  CHECK(loss.value() == doctest::Approx(value).epsilon(1e-11));
  CHECK(distance(gradient<Device>(tape, x), expected) <= 1e-11);
  Tape plain(device);  // the value without gradients
  Loss again = function(input<4>(plain, kX), plain.constant(targets), labels_on(plain, {2, 0, 3}));
  CHECK(again.value() == doctest::Approx(value).epsilon(1e-11));
}

}  // namespace

TEST_CASE("losses: sum and mean match known values") {
  Numbers twice = kX;
  for (double& number : twice) number *= 2;
  check("sum", 4.5, Numbers(12, 1), [](auto x, auto, auto) { return sum(x); });
  check("mean", 4.5 / 12, Numbers(12, 1.0 / 12), [](auto x, auto, auto) { return mean(x); });
  check("sum of squares", 0.25 + 1 + 4 + 2.25 + 0.0625 + 0.25 + 1 + 4 + 9 + 0.5625 + 1, twice,
        [](auto x, auto, auto) { return sum(square(x)); });
}

TEST_CASE("losses: mse and binary_cross_entropy values and gradients match PyTorch") {
  check("mse", 2.375,
        {-0.0833333333333, -0.166666666667, 0.25, -0.0416666666667, 0.25, -0.125, -0.25, 0.0416666666667, -0.416666666667,
         0.5, 0.125, -0.333333333333},
        [](auto x, auto t, auto) { return mse(x, t); });
  check("binary_cross_entropy", 1.08731277409,
        {-0.0314617223998, 0.0224117851142, 0.0317330898315, 0.0208333333333, 0.0681312063495, -0.0364852915929,
         -0.0518716109335, -0.00157845178083, -0.0317330898315, 0.0793811772352, 0.0565982249313, -0.0609215482192},
        [](auto x, auto t, auto) { return binary_cross_entropy(x, t); });
}

TEST_CASE("losses: cross_entropy of logits matches PyTorch with and without label smoothing") {
  check("cross_entropy", 1.72406691055,
        {0.0528149031717, 0.0117845978029, -0.0966333590379, 0.0320338580634, -0.168997826618, 0.0470829109684,
         0.0222403923472, 0.0996745233023, 0.00198679884049, 0.294867092418, 0.0310787628897, -0.327932654148},
        [](auto x, auto, auto labels) { return cross_entropy(x, labels); });
  check("label smoothing", 1.76990024388,
        {0.0444815698383, 0.00345126446958, -0.0716333590379, 0.02370052473, -0.143997826618, 0.0387495776351,
         0.0139070590138, 0.091341189969, -0.00634653449284, 0.286533759085, 0.0227454295564, -0.302932654148},
        [](auto x, auto, auto labels) { return cross_entropy(x, labels, {.amount = 0.1}); });
}

TEST_CASE("losses: cross_entropy_per_row matches PyTorch without reduction") {
  const Numbers plain{0.0528149031717,  0.0117845978029, -0.0966333590379, 0.0320338580634,
                      -0.168997826618,  0.0470829109684, 0.0222403923472,  0.0996745233023,
                      0.00198679884049, 0.294867092418,  0.0310787628897,  -0.327932654148};
  check("mean", 1.72406691055, plain, [](auto x, auto, auto labels) { return mean(cross_entropy_per_row(x, labels)); });
  check("label smoothing", 1.76990024388,
        {0.0444815698383, 0.00345126446958, -0.0716333590379, 0.02370052473, -0.143997826618, 0.0387495776351,
         0.0139070590138, 0.091341189969, -0.00634653449284, 0.286533759085, 0.0227454295564, -0.302932654148},
        [](auto x, auto, auto labels) { return mean(cross_entropy_per_row(x, labels, 0.1)); });
  Device device(1);  // F.cross_entropy(x, labels, reduction="none")
  Tape tape(device);
  const attn::Variable<Device, 1> losses = cross_entropy_per_row(input<4>(tape, kX), labels_on(tape, {2, 0, 3}));
  CHECK(distance(values<Device>(tape, losses), {0.342349582390, 0.707232879578, 4.122618269671}) <= 1e-11);
}

TEST_CASE("losses: weighted and masked and transformed losses of rows match finite differences") {
  Device device(1);
  Tensor<Device> x(device, 3, 4, kX), gate(device, 3, 1, {0.25, -1, 2});
  const auto loss = [&](Tape& tape, const auto& in, const attn::Variable<Device, 1>& weights) {
    const attn::Variable<Device, 1> each = cross_entropy_per_row(in, labels_on(tape, {2, 0, 3}), 0.2);
    const attn::Variable<Device, 1> mask = input<1>(tape, {1, 0, 1});
    const auto focal = square(1 - exp(-each)) * each;  // Lin et al. 2017
    return sum(sigmoid(weights) * each) / 3 + sum(mask * each) / 2 + mean(focal);
  };
  Tape tape(device, TapeMode::gradients());
  const auto in = input<4>(tape, x.read());
  const auto weights = input<1>(tape, gate.read());
  loss(tape, in, weights).backward();
  const auto value = [&] {
    Tape again(device);
    return loss(again, input<4>(again, x.read()), input<1>(again, gate.read())).value();
  };
  check_gradient("x", x, gradient<Device>(tape, in), value);
  check_gradient("weights", gate, gradient<Device>(tape, weights), value);
}

TEST_CASE("losses: kl_divergence value and gradient match PyTorch") {
  check("kl_divergence", 1.06704829459,
        {-0.0834187546244, -0.0383329640958, 0.154070083957, -0.0323183652371, 0.125365394835, -0.058848836009,
         -0.0836913546303, 0.0171747958042, -0.0843291253614, 0.242513837968, -0.0212744915602, -0.136910221047},
        [](auto x, auto t, auto) { return kl_divergence(x, softmax(t)); });
}

TEST_CASE("losses: a weighted sum of losses of expressions matches PyTorch") {
  check("both", 1.91885857721,
        {0.061148236505, -0.00488206886375, -0.0633000257046, 0.0320338580634, -0.143997826618, 0.0512495776351,
         0.0139070590138, 0.116341189969, -0.0313465344928, 0.344867092418, 0.0435787628897, -0.344599320815},
        [](auto x, auto, auto labels) { return cross_entropy(x, labels) + 0.1 * mean(square(x)); });
}

TEST_CASE("losses: targets can be vectors or columns or numbers and gradients match finite differences") {
  Device device(1);
  TestParameter<Device> parameter(device, 4, 1, 2);
  const attn::Parameter<Device>& vector = parameter;
  Tensor<Device> x(device, 3, 4, kX);
  const auto loss = [&](const auto& in) {
    const attn::Variable<Device, 1> column = mean_columns(in);
    return mse(tanh(in), vector) - 0.5 * mse(in, column) + 2 * binary_cross_entropy(in * vector, 0.25) + sum(column) / 3;
  };
  Tape tape(device, TapeMode::gradients());
  const auto in = input<4>(tape, x.read());
  loss(in).backward();
  const auto value = [&] {
    Tape again(device);
    return loss(input<4>(again, x.read())).value();
  };
  check_gradient("x", x, gradient<Device>(tape, in), value);
  check_gradient("vector", parameter.numbers, parameter.gradients.read(), value);
}

TEST_CASE("losses: a fused output loss plus another loss gives the sum of both gradients") {
  Device device(2);
  Tensor<Device> x(device, 3, 4, kX);
  TestParameter<Device> weight(device, 5, 4, 1), bias(device, 5, 1, 2), layer(device, 4, 4, 3);
  const std::vector<Token> labels{2, 0, 4};
  const auto run = [&](bool fused, bool other) {
    for (auto* parameter : {&weight, &bias, &layer})
      parameter->gradients.write(Numbers(static_cast<std::size_t>(parameter->size()), 0));
    Tape tape(device, TapeMode::gradients());
    const Variable in = input<4>(tape, x.read()), h = attn::linear(in, layer);
    Loss loss;
    if (fused) loss += attn::cross_entropy(h, weight, bias, labels.data(), {.amount = 0.1});
    if (other) loss += 0.3 * mean(square(h)) + 0.2 * cross_entropy(attn::linear(h, weight, bias), labels_on(tape, labels));
    loss.backward();
    const Numbers gradients =
        joined({gradient(tape, in), weight.gradients.read(), bias.gradients.read(), layer.gradients.read()});
    return std::pair(loss.value(), gradients);
  };
  const auto first = run(true, false), second = run(false, true), both = run(true, true);
  CHECK(both.first == doctest::Approx(first.first + second.first).epsilon(1e-13));
  CHECK(distance(both.second, sum_of(first.second, second.second)) <= 1e-14);
}

TEST_CASE("losses: cross_entropy of logits equals the fused output loss on every computation") {
  Device device(1);
  Tensor<Device> x(device, 3, 4, kX);
  TestParameter<Device> weight(device, 5, 4, 1), bias(device, 5, 1, 2);
  const std::vector<Token> labels{2, 0, 4};
  for (const auto smoothing : {attn::Smoothing::uniform, attn::Smoothing::others}) {
    const attn::LossOptions options{.smoothing = smoothing, .amount = 0.2, .normalizer = 7};
    const auto run = [&](bool fused) {
      for (auto* parameter : {&weight, &bias})
        parameter->gradients.write(Numbers(static_cast<std::size_t>(parameter->size()), 0));
      Tape tape(device, TapeMode::gradients());
      const Variable in = input<4>(tape, x.read());
      Loss loss = fused ? attn::cross_entropy(in, weight, bias, labels.data(), options)
                        : cross_entropy(attn::linear(in, weight, bias), labels_on(tape, labels), options);
      const double value = loss.value();
      const auto sums = loss.read();
      loss.backward();
      CHECK(loss.value() == value);
      CHECK(loss.labels() == 3);
      return joined({{value, sums.nll, sums.loss}, gradient(tape, in), weight.gradients.read(), bias.gradients.read()});
    };
    CHECK(distance(run(true), run(false)) <= 1e-13);
  }
}

TEST_CASE("losses: errors name mismatched shapes") {
  Device device(1);
  Tape tape(device);
  const auto x = input<4>(tape, kX), short_one = input<4>(tape, Numbers(8, 0.25));
  CHECK(contains(error_of([&] { kl_divergence(x, short_one); }), "logits of 3 x 4 and probabilities of 2 x 4"));
  CHECK(contains(error_of([&] { cross_entropy(x, labels_on(tape, {1, 2})); }), "2 labels for 3 predictions"));
  CHECK(contains(error_of([&] { cross_entropy(x, labels_on(tape, {1, 2, 4})); }), "label 4 is not in a vocabulary of 4"));
  CHECK(contains(error_of([&] { cross_entropy(x, labels_on(tape, {1, 2, 3}), {.amount = 2}); }), "label smoothing of 2"));
  CHECK(contains(error_of([&] { mse(x, short_one); }), "3 x 4 and 2 x 4"));
  CHECK(contains(error_of([&] { cross_entropy_per_row(x, labels_on(tape, {1, 2, 3}), 2); }), "label smoothing of 2"));
  CHECK(contains(error_of([&] { cross_entropy_per_row(x, labels_on(tape, {1, 2, 4})); }), "column 4 is out of range"));
}

TEST_CASE("losses: no rows give 0") {
  Device device(1);
  Tape tape(device, TapeMode::gradients());
  const auto x = input<4>(tape, {});
  Loss loss = mean(x) + sum(x) + mse(x, 1) + kl_divergence(x, softmax(x)) + cross_entropy(x, labels_on(tape, {})) +
              sum(cross_entropy_per_row(x, labels_on(tape, {})));
  loss.backward();
  CHECK(loss.value() == 0);
}
