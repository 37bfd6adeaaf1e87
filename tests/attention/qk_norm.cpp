#include "attn/attention/qk_norm.hpp"

#include "attn/attention/multi_head.hpp"
#include "support/generation.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape kShape{.encoder_layers = 1, .decoder_layers = 2, .width = 8, .heads = 2, .inner = 12};
const Sentences texts = sentences({{1, 1, 1}, {}, {1}, {1, 1, 1, 1, 1}});

/// x / sqrt(mean(x²) + epsilon) * gain, of each head.
void normalise(std::vector<double>& rows, const std::vector<double>& gain) {
  for (std::size_t first = 0; first < rows.size(); first += gain.size()) {
    double squares = 0;
    for (std::size_t j = 0; j < gain.size(); ++j) squares += rows[first + j] * rows[first + j];
    const double root = std::sqrt(squares / static_cast<double>(gain.size()) + static_cast<double>(1e-5f));
    for (std::size_t j = 0; j < gain.size(); ++j) rows[first + j] *= gain[j] / root;
  }
}

}  // namespace

TEST_CASE_TEMPLATE("qk norm: gradients of self-attention match finite differences with and without dropout", Layer,
                   MultiHead<D, 8, 2, QkNorm>, MultiHead<D, 8, 4, QkNorm, Mask::causal>) {
  D device;
  Layer layer(0.3f);
  Input<D, 8> input(9);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(input(tape), upload(tape, texts).rows)); };
  check_gradients(parameters, loss);
  check_gradients(parameters, loss, TapeMode::training(1, 1));
}

TEST_CASE("qk norm: queries and keys are normalized per head with their own gains") {
  D device;
  MultiHead<D, 8, 2, QkNorm> layer;
  Input<D, 8> input(9);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  Tape<D> tape(device);
  const Ragged rows = upload(tape, texts).rows;
  const auto x = input(tape);
  auto [q, k, v] = split<3>(layer.in(x));
  auto queries = rows_of<D>(q), keys = rows_of<D>(k);
  normalise(queries, parameters.read(parameters.find("0.query_key.query.gain")));
  normalise(keys, parameters.read(parameters.find("0.query_key.key.gain")));
  const Variable<D> of_q = tape.constant({queries.data(), 9, 8}), of_k = tape.constant({keys.data(), 9, 8});
  const auto seen = attention<D>(of_q, rows, {of_k, v, rows}, {.heads = 2, .scale = ScaledDot::scale(4)});
  CHECK(largest_difference(rows_of<D>(layer(x, rows)), rows_of<D>(layer.out(seen))) < 1e-13);
}

TEST_CASE("qk norm: grouped queries have as many gains as one head has columns") {
  D device;
  MultiHead<D, dynamic, dynamic, QkNorm, Mask::causal> normed({.width = 8, .heads = 4, .key_value_heads = 2});
  Input<D, 8> input(9);
  Together model(normed, input);
  Parameters<D> parameters(device, model, 1);
  CHECK(parameters.find("0.query_key.key.gain").size() == 2);
  shake(parameters);
  check_gradients(parameters,
                  [&](Tape<D>& tape) { return mixture<D>(tape, normed(input(tape), upload(tape, texts).rows)); });
}

TEST_CASE("qk norm: cached generation equals generation from scratch") {
  check_generation<LanguageModel<D, kShape, PreNorm, Gelu, Learned<40>, QkNorm>>(kShape, 8);
}
