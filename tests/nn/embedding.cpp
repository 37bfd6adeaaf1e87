#include "attn/nn/embedding.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("embedding: gradients of the table are correct with repeated tokens and dropout") {
  D device;
  Embedding<D, 6> layer(7, 0.3f);
  Parameters<D> parameters(device, layer, 1);
  const Sentences text = sentences({{1, 3, 3, 0}, {}, {3}, {6, 1}});
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(tape, upload(tape, text))); };
  check_gradients(parameters, loss);
  for (const Token absent : {2, 4, 5})
    for (std::size_t j = 0; j < 6; ++j)
      CHECK(parameters.read_gradient(parameters.find("table"))[static_cast<std::size_t>(absent) * 6 + j] == 0);
  check_gradients(parameters, loss, TapeMode::training(1, 1));
}

TEST_CASE("embedding: sinusoidal positions match known values from the start of each sentence") {
  D device;
  Embedding<D, 4> layer(5);
  Parameters<D> parameters(device, layer, 1);
  parameters.write(parameters.find("table"), std::vector<double>(20, 0));
  Tape<D> tape(device);
  const auto y = layer(tape, upload(tape, sentences({{1, 2, 3}, {}, {4, 0}})));
  // sin(p), cos(p), sin(p / 100), cos(p / 100)
  const std::vector<std::vector<double>> expected{
      {0, 1, 0, 1},
      {0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653},
      {0.9092974268256817, -0.4161468365471424, 0.01999866669333308, 0.9998000066665778},
      {0, 1, 0, 1},
      {0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653}};
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 4; ++j)
      CHECK(y.value(i, j) ==
            doctest::Approx(expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]).epsilon(1e-14));
}

TEST_CASE("embedding: scales the table by the root of the width and supports a start position") {
  D device;
  Embedding<D, 4> layer(3);
  Parameters<D> parameters(device, layer, 1);
  parameters.write(parameters.find("table"), {0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0});
  Tape<D> tape(device);
  const Text text = upload(tape, sentences({{1}}));
  CHECK(rows_of(layer(tape, text)) == std::vector<double>{2, 5, 6, 9});
  const auto later = layer(tape, text, 600);  // beyond the table that the first call made
  CHECK(later.value(0, 0) == doctest::Approx(2 + std::sin(600.0)).epsilon(1e-12));
  CHECK(later.value(0, 3) == doctest::Approx(8 + std::cos(6.0)).epsilon(1e-12));
  CHECK(rows_of(layer(tape, text)) == std::vector<double>{2, 5, 6, 9});
}

TEST_CASE("embedding: the error for a token outside the vocabulary names both numbers") {
  D device;
  Embedding<D, 4> layer(3);
  Parameters<D> parameters(device, layer, 1);
  Tape<D> tape(device);
  const std::string large = complaint([&] { layer(tape, upload(tape, sentences({{1, 3}}))); });
  CHECK(large.find("token 3 is not in a vocabulary of 3") != std::string::npos);
  const std::string negative = complaint([&] { layer(tape, upload(tape, sentences({{-1, 2}}))); });
  CHECK(negative.find("token -1 ") != std::string::npos);
}
