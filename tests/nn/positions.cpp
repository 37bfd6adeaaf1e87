#include "attn/nn/positions.hpp"

#include "attn/nn/embedding.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("learned positions: gradients of both tables are correct with repeated positions and dropout") {
  D device;
  Embedding<D, 5, Learned<6>> layer(7, 0.3f);
  Parameters<D> parameters(device, layer, 1);
  const Sentences text = sentences({{1, 3, 3, 0}, {}, {3}, {6, 1}});
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(tape, upload(tape, text))); };
  check_gradients(parameters, loss);
  const auto gradient = parameters.read_gradient(parameters.find("positions.table"));
  for (std::size_t i = 4 * 5; i < gradient.size(); ++i) CHECK(gradient[i] == 0);  // positions that no sentence reaches
  check_gradients(parameters, loss, TapeMode::training(1, 1));
  check_gradients(parameters, [&](Tape<D>& tape) { return mixture(tape, layer(tape, upload(tape, text), 2)); });
}

TEST_CASE("learned positions: are added to unscaled embeddings from any start position per sentence") {
  D device;
  Embedding<D, 2, Learned<4>> layer(3);
  Parameters<D> parameters(device, layer, 1);
  parameters.write(parameters.find("table"), {0, 0, 1, 2, 3, 4});
  parameters.write(parameters.find("positions.table"), {10, 20, 30, 40, 50, 60, 70, 80});
  Tape<D> tape(device);
  CHECK(rows_of(layer(tape, upload(tape, sentences({{1, 2}, {}, {2}})))) == std::vector<double>{11, 22, 33, 44, 13, 24});
  CHECK(rows_of(layer(tape, upload(tape, sentences({{1, 2}})), 2)) == std::vector<double>{51, 62, 73, 84});
  const std::vector<std::int32_t> first{3, 0, 1};
  const FirstPositions each{3, tape.upload(first.data(), 3)};
  CHECK(rows_of(layer(tape, upload(tape, sentences({{1}, {}, {2}})), each)) == std::vector<double>{71, 82, 33, 44});
}

TEST_CASE("learned positions: the error for a too long sentence names both lengths") {
  D device;
  Embedding<D, 4, Learned<3>> layer(3);
  Parameters<D> parameters(device, layer, 1);
  Tape<D> tape(device);
  CHECK(layer(tape, upload(tape, sentences({{1, 2, 0}}))).rows() == 3);
  const std::string said = complaint([&] { layer(tape, upload(tape, sentences({{1}, {1, 2, 0, 0}}))); });
  CHECK(said.find("a sentence of 4 tokens exceeds the 3 learned positions") != std::string::npos);
  CHECK(said.find("Learned<4>") != std::string::npos);
  CHECK(complaint([&] { layer(tape, upload(tape, sentences({{1}})), 3); }).find("of 4 tokens") != std::string::npos);
}

TEST_CASE("sinusoidal positions in halves: have a table separate from the alternating one") {
  D device;
  Embedding<D, 4> alternating(1);
  Embedding<D, 4, SinusoidalHalves> halves(1);
  Parameters<D> first(device, alternating, 1), second(device, halves, 1);
  for (Parameters<D>* parameters : {&first, &second}) parameters->write(parameters->find("table"), {1, 2, 3, 4});
  const double a = std::sin(1.0), b = std::cos(1.0), c = std::sin(0.01), d = std::cos(0.01);
  for (int times = 0; times < 2; ++times) {
    Tape<D> tape(device);
    const Text text = upload(tape, sentences({{0}}));
    CHECK(rows_of(alternating(tape, text, 1)) == std::vector<double>{2 + a, 4 + b, 6 + c, 8 + d});
    CHECK(rows_of(halves(tape, text, 1)) == std::vector<double>{2 + a, 4 + c, 6 + b, 8 + d});
  }
}

TEST_CASE("no positions: embeddings do not depend on the position") {
  D device;
  Embedding<D, 3, NoPositions> layer(2);
  Parameters<D> parameters(device, layer, 1);
  CHECK(parameters.entries().size() == 1);
  parameters.write(parameters.find("table"), {1, 2, 3, 4, 5, 6});
  Tape<D> tape(device);
  CHECK(rows_of(layer(tape, upload(tape, sentences({{1, 0}})), 9)) == std::vector<double>{4, 5, 6, 1, 2, 3});
}
