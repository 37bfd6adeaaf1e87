#include "attn/attention/multi_head.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

const Sentences queries = sentences({{1, 1, 1}, {}, {1}, {1, 1, 1, 1}, {1, 1}});
const Sentences keys = sentences({{1, 1}, {1}, {1, 1, 1, 1}, {1}, {}});  // the last queries have nothing to look at

}  // namespace

TEST_CASE_TEMPLATE("multi-head: gradients of self-attention match finite differences", Layer, MultiHead<D, 8, 2>,
                   MultiHead<D, 8, 4, Full<DotProduct>>, MultiHead<D, 8, 2, Full<>, Mask::causal>,
                   MultiHead<D, 8, 1, Full<DotProduct>, Mask::causal>) {
  D device;
  Layer layer(0.3f);
  Input<D, 8> input(10);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(input(tape), upload(tape, queries).rows)); };
  check_gradients(parameters, loss);
  check_gradients(parameters, loss, TapeMode::training(1, 1));
}

TEST_CASE_TEMPLATE("multi-head: gradients of cross-attention match finite differences for both texts", Layer,
                   MultiHead<D, 8, 2>, MultiHead<D, 8, 4, Full<DotProduct>>) {
  D device;
  Layer layer(0.3f);
  Input<D, 8> input(10), memory(8);
  Together model(layer, input, memory);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) {
    const auto remembered = layer.remember(memory(tape), upload(tape, keys).rows);
    return mixture(tape, layer(input(tape), upload(tape, queries).rows, remembered));
  };
  check_gradients(parameters, loss);
  check_gradients(parameters, loss, TapeMode::training(1, 1));
}

TEST_CASE("multi-head: a shared memory accumulates the gradients of both readers") {
  D device;
  MultiHead<D, 8, 2> layer;
  Input<D, 8> input(10), memory(8);
  Together model(layer, input, memory);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  check_gradients(parameters, [&](Tape<D>& tape) {
    const auto remembered = layer.remember(memory(tape), upload(tape, keys).rows);
    const Ragged rows = upload(tape, queries).rows;
    return mixture(tape, layer(layer(input(tape), rows, remembered), rows, remembered));
  });
}

TEST_CASE("multi-head: queries without keys return only the output bias") {
  D device;
  MultiHead<D, 8, 2> layer;
  Input<D, 8> input(10), memory(8);
  Together model(layer, input, memory);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  Tape<D> tape(device);
  const auto remembered = layer.remember(memory(tape), upload(tape, keys).rows);
  const auto y = layer(input(tape), upload(tape, queries).rows, remembered);
  const auto bias = parameters.read(parameters.find("0.out.bias"));
  CHECK(rows_of(y, 8, 1) == bias);
  CHECK(rows_of(y, 9, 1) == bias);
  CHECK(rows_of(y, 0, 1) != bias);
}

TEST_CASE("multi-head: causal attention ignores later positions and full attention does not") {
  D device;
  MultiHead<D, 8, 2, Full<>, Mask::causal> back;
  MultiHead<D, 8, 2> everywhere;
  Input<D, 8> input(6);
  Together model(back, everywhere, input);
  Parameters<D> parameters(device, model, 1);
  const auto run = [&](const auto& layer) {
    Tape<D> tape(device);
    return rows_of(layer(input(tape), upload(tape, sentences({{1, 1, 1, 1, 1, 1}})).rows), 0, 5);
  };
  const auto before_back = run(back), before_everywhere = run(everywhere);
  auto numbers = parameters.read(parameters.find("2.numbers"));
  numbers[5 * 8 + 3] += 1;  // of the last position
  parameters.write(parameters.find("2.numbers"), numbers);
  CHECK(run(back) == before_back);
  CHECK(run(everywhere) != before_everywhere);
}

TEST_CASE("multi-head: one head matches a manual calculation") {
  D device;
  MultiHead<D, 2, 1> layer;
  Parameters<D> parameters(device, layer, 1);
  // Queries and keys are x, values are x doubled, and the output adds (1, 0).
  parameters.write(parameters.find("in.weight"), {1, 0, 0, 1, 1, 0, 0, 1, 2, 0, 0, 2});
  parameters.write(parameters.find("in.bias"), std::vector<double>(6, 0));
  parameters.write(parameters.find("out.weight"), {1, 0, 0, 1});
  parameters.write(parameters.find("out.bias"), {1, 0});
  Tape<D> tape(device);
  auto x = tape.make(2, 2);
  x.value(0, 0) = 1, x.value(0, 1) = 0, x.value(1, 0) = 0, x.value(1, 1) = 2;
  const auto y = layer(x, upload(tape, sentences({{1, 1}})).rows);
  const auto weight = [](double a, double b) { return 1 / (1 + std::exp((b - a) / std::sqrt(2.0))); };
  const double first = weight(1, 0), second = weight(0, 4);  // of the first word, for each query
  CHECK(y.value(0, 0) == doctest::Approx(1 + 2 * first).epsilon(1e-12));
  CHECK(y.value(0, 1) == doctest::Approx(4 * (1 - first)).epsilon(1e-12));
  CHECK(y.value(1, 0) == doctest::Approx(1 + 2 * second).epsilon(1e-12));
  CHECK(y.value(1, 1) == doctest::Approx(4 * (1 - second)).epsilon(1e-12));
}

TEST_CASE("multi-head: rejects different sentences on the two sides") {
  D device;
  MultiHead<D, 8, 2> layer;
  Input<D, 8> input(3), memory(2);
  Together model(layer, input, memory);
  Parameters<D> parameters(device, model, 1);
  Tape<D> tape(device);
  const auto remembered = layer.remember(memory(tape), upload(tape, sentences({{1}, {1}})).rows);
  const std::string said = complaint([&] {
    layer(input(tape), upload(tape, sentences({{1}, {1}, {1}})).rows, remembered);
  });
  CHECK(said.find("queries of 3 sentences, but keys of 2") != std::string::npos);
}

TEST_CASE("multi-head: the Xavier bound is that of three square matrices") {
  D device;
  MultiHead<D, 8, 2> layer;
  Parameters<D> parameters(device, layer, 1);
  const auto numbers = parameters.read(parameters.find("in.weight"));
  const double most = std::abs(
      *std::max_element(numbers.begin(), numbers.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  CHECK(most <= std::sqrt(6.0 / 16));
  CHECK(most > std::sqrt(6.0 / 32));
}
