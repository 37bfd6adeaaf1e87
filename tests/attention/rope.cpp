#include "attn/attention/rope.hpp"

#include <numeric>

#include "attn/attention/multi_head.hpp"
#include "support/generation.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape kShape{.encoder_layers = 1, .decoder_layers = 2, .width = 8, .heads = 2, .inner = 12};
constexpr TransformerShape kGrouped{
    .encoder_layers = 1, .decoder_layers = 2, .width = 16, .heads = 4, .inner = 12, .key_value_heads = 2};

/// A small Llama: rotary positions, RMS norm, SwiGLU.
template <TransformerShape Shape>
using Llama = LanguageModel<D, Shape, PreNormOf<RmsNorm>, SwiGlu, NoPositions, Rope>;

const Sentences texts = sentences({{1, 1, 1}, {}, {1}, {1, 1, 1, 1, 1}});

}  // namespace

TEST_CASE_TEMPLATE("rope: gradients of self-attention match finite differences with and without dropout", Layer,
                   MultiHead<D, 8, 2, Rope>, MultiHead<D, 8, 4, Rope, Mask::causal>) {
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

TEST_CASE("rope: a longer sentence on the same tape does not change gradients") {
  D device;
  MultiHead<D, 4, 2, Rope> layer;
  Input<D, 4> few(3), many(600);
  Together model(layer, few, many);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) {
    const auto first = layer(few(tape), upload(tape, sentences({{1, 1, 1}})).rows);
    const auto second = layer(many(tape), upload(tape, sentences({std::vector<Token>(600, 1)})).rows);
    return mixture(tape, first) + mixture(tape, second);
  };
  check_gradients(parameters, loss, TapeMode::gradients(), 3);
}

TEST_CASE("rope: attention depends on distance and order") {
  D device;
  MultiHead<D, 8, 2, Rope> layer;
  Input<D, 8> input(4);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto run = [&](bool reversed) {
    Tape<D> tape(device);
    Variable<D> x = input(tape);
    if (reversed)
      for (Index j = 0; j < 8; ++j) std::swap(x.value(0, j), x.value(3, j)), std::swap(x.value(1, j), x.value(2, j));
    return rows_of<D>(layer(x, upload(tape, sentences({{1, 1, 1, 1}})).rows));
  };
  const auto forward = run(false);
  auto backward = run(true);
  for (std::size_t j = 0; j < 8; ++j)
    std::swap(backward[j], backward[24 + j]), std::swap(backward[8 + j], backward[16 + j]);
  CHECK(largest_difference(forward, backward) > 1e-3);  // without positions they would be the same

  const auto rotated = [&](Index first) {  // scores of rotated queries and keys
    Tape<D> tape(device);
    const Ragged rows = upload(tape, sentences({{1, 1, 1, 1}})).rows;
    const Variable<D> x = input(tape), y = rotary(x, rows, 2, first);
    std::vector<double> scores;
    for (Index i = 0; i < 4; ++i)
      for (Index k = 0; k < 4; ++k)
        scores.push_back(std::inner_product(y.value.row(i), y.value.row(i) + 8, y.value.row(k), 0.0));
    return scores;
  };
  CHECK(largest_difference(rotated(0), rotated(1000)) < 1e-10);
}

TEST_CASE("rope: an error names odd head widths") {
  D device;
  Tape<D> tape(device);
  const Ragged rows = upload(tape, sentences({{1, 1}})).rows;
  CHECK(complaint([&] { rotary(tape.make(2, 6), rows, 2); }).find("6 columns are not 2 heads of an even width") !=
        std::string::npos);
  CHECK(complaint([&] { rotary(tape.make(2, 7), rows, 2); }).find("7 columns are not 2 heads") != std::string::npos);
}

TEST_CASE("rope: cached generation equals generation from scratch") {
  check_generation<Llama<kShape>>(kShape);
  check_generation<Llama<dynamic_shape>>(kGrouped);
}

TEST_CASE("rope: gradients of a language model with SwiGLU match finite differences with and without dropout") {
  D device(1);
  Llama<kGrouped> model({.vocabulary = 13, .dropout = {0.2f, 0.2f, 0.2f}});
  Parameters<D> parameters(device, model, 1);
  shake(parameters, 0.2);
  const Sentences learned = sentences({{4, 5, 12}, {}, {6}, {7, 4}});
  const Batch batch = Batch::of(learned, learned, special_tokens);  // the source is not read
  const auto loss = [&](Tape<D>& tape) { return model.loss(tape, batch, {.amount = 0.1}); };
  check_gradients(parameters, loss, TapeMode::gradients(), 6);
  check_gradients(parameters, loss, TapeMode::training(1, 1), 6);
}

TEST_CASE("rope: cached Transformer translation equals translation from scratch") {
  D device;
  Transformer<D, kGrouped, Rope, PreNormOf<RmsNorm>, GeGlu, NoPositions> model(
      {.source_vocabulary = 13, .target_vocabulary = 13});
  Parameters<D> parameters(device, model, 3);
  shake(parameters, 0.4, 3);
  const Sentences source = sentences({{4, 5, 6, 7, 8}, {9}, {10, 9, 8}});
  const auto written = greedy(device, model, source, {.begin = 2, .end = 3, .limit = 8});
  REQUIRE(written.size() == 3);
  for (Index i = 0; i < source.size(); ++i) {
    std::vector<Token> text{2};
    Sentences one;
    one.push_back(source[i]);
    while (text.size() <= 8) {
      Tape<D> tape(device);
      Sentences target;
      target.push_back(text);
      const auto logits = model.output.logits(model.hidden(tape, upload(tape, one), upload(tape, target)));
      const auto last = rows_of<D>(logits, logits.rows() - 1, 1);
      const auto token = static_cast<Token>(std::max_element(last.begin(), last.end()) - last.begin());
      if (token == 3) break;
      text.push_back(token);
    }
    CHECK(written[static_cast<std::size_t>(i)] == std::vector<Token>(text.begin() + 1, text.end()));
  }
}
