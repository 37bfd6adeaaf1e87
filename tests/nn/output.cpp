#include "attn/nn/output.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("output: gradients match finite differences for both kinds of label smoothing") {
  D device;
  Output<D, 6> layer(9);
  Input<D, 6> input(5);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const Sentences labels = sentences({{0, 8, 3}, {}, {3, 1}});
  for (const Smoothing kind : {Smoothing::uniform, Smoothing::others})
    for (const double amount : {0.0, 0.3})
      check_gradients(parameters, [&](Tape<D>& tape) {
        return layer.loss(input(tape), upload(tape, labels), {.smoothing = kind, .amount = amount});
      });
}

TEST_CASE("output: the normalizer divides gradients but not the reported sums") {
  D device;
  Output<D, 6> layer(9);
  Input<D, 6> input(2);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  const auto run = [&](double normalizer) {
    device.zero(parameters.gradients(), parameters.size());
    Tape<D> tape(device, TapeMode::gradients());
    auto loss = layer.loss(input(tape), upload(tape, sentences({{0, 8}})), {.normalizer = normalizer});
    loss.backward();
    return std::pair(loss.read().loss, parameters.read_gradient(parameters.find("1.numbers")));
  };
  const auto [sum, mean_gradient] = run(0);
  const auto [same_sum, small_gradient] = run(16);
  CHECK(sum == same_sum);
  for (std::size_t i = 0; i < mean_gradient.size(); ++i)
    CHECK(small_gradient[i] == doctest::Approx(mean_gradient[i] / 8).epsilon(1e-12));
}

TEST_CASE("output: the loss in chunks equals the loss of all rows and agrees with the logits") {
  D device;
  constexpr Index kVocabulary = 1 << 21;  // two rows fill a chunk
  Output<D, 2> layer(kVocabulary);
  Input<D, 2> input(3);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  const Sentences labels = sentences({{5, kVocabulary - 1, 17}});
  Tape<D> tape(device);
  const auto x = input(tape);
  auto loss = layer.loss(x, upload(tape, labels));
  CHECK(loss.labels() == 3);
  const auto logits = layer.logits(x).value;
  double expected = 0;
  for (Index i = 0; i < 3; ++i) {
    double sum = 0;
    for (Index j = 0; j < kVocabulary; ++j) sum += std::exp(logits(i, j));
    expected += std::log(sum) - logits(i, labels.tokens[static_cast<std::size_t>(i)]);
  }
  CHECK(loss.read().nll == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("output: rejects invalid labels") {
  D device;
  Output<D, 6> layer(9);
  Input<D, 6> input(2);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  Tape<D> tape(device);
  const auto say = [&](const Sentences& labels) {
    return complaint([&] { layer.loss(input(tape), upload(tape, labels)); });
  };
  CHECK(say(sentences({{1}})).find("1 labels for 2 predictions") != std::string::npos);
  CHECK(say(sentences({{1, 9}})).find("label 9 is not in a vocabulary of 9") != std::string::npos);
  CHECK(say(sentences({{-1, 1}})).find("label -1 is not in a vocabulary of 9") != std::string::npos);
}
