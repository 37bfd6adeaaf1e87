#include <tuple>

#include "attn/attention/multi_head.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/feed_forward.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/output.hpp"
#include "attn/nn/residual.hpp"
#include "attn/nn/rms_norm.hpp"
#include "attn/nn/stack.hpp"
#include "support/model_tools.hpp"

// Layers with sizes in their type and layers with sizes given at run time.

using namespace attn_test;
using D = Cpu<double>;
using F = Cpu<float>;

namespace {

const Sentences text = sentences({{1, 3, 3, 0}, {}, {3}, {6, 1}});  // 7 rows

/// The names and values of the parameters, the result, and all gradients of run(tape, layer, input) with dropout.
template <class Layer, class Run>
auto everything(Layer& layer, const Run& run) {
  F device(2);
  Input<F, 6> input(7);
  Together model(layer, input);
  Parameters<F> parameters(device, model, 5);
  shake(parameters);
  Tape<F> tape(device, TapeMode::training(1, 2));
  const Variable<F> y = run(tape, layer, input(tape));
  mixture(tape, y);
  tape.backward();
  std::vector<std::string> names;
  std::vector<float> values, gradients;
  for (const auto& entry : parameters.entries()) {
    names.push_back(entry.name);
    for (const float number : parameters.read(entry)) values.push_back(number);
    for (const float number : parameters.read_gradient(entry)) gradients.push_back(number);
  }
  return std::tuple(names, values, rows_of(y), gradients);
}

template <class Fixed, class Sized, class Run>
void check_same(Fixed fixed, Sized sized, const Run& run) {
  const auto expected = everything(fixed, run), found = everything(sized, run);
  CHECK(std::get<0>(found) == std::get<0>(expected));
  CHECK(std::get<1>(found) == std::get<1>(expected));
  CHECK(std::get<2>(found) == std::get<2>(expected));
  CHECK(std::get<3>(found) == std::get<3>(expected));
}

const auto call = [](Tape<F>&, auto& layer, auto x) { return layer(x); };

}  // namespace

TEST_CASE("run-time sizes: linear layers and norms give the same bits as static ones") {
  check_same(Linear<F, 6, 5>(), Linear<F>(6, 5), call);
  check_same(Linear<F, 6, 5>(), Linear<F, 6>(6, 5), call);
  check_same(Linear<F, 6, 5>(), Linear<F, dynamic, 5>(6, 5), call);
  check_same(Linear<F, 6, 9>(), Linear<F>(6, 9), [](Tape<F>&, auto& layer, auto x) { return layer.outputs(x, 3, 4); });
  check_same(Linear<F, 6, 9>(), Linear<F>(6, 9),
             [](Tape<F>&, auto& layer, auto x) { return layer.template outputs<3, 4>(x); });
  check_same(Projection<F, 6, 5>(), Projection<F>(6, 5), call);
  check_same(LayerNorm<F, 6>(), LayerNorm<F>(6), call);
  check_same(RmsNorm<F, 6>(), RmsNorm<F>(6), call);
}

TEST_CASE("run-time sizes: feed-forward blocks give the same bits as static ones") {
  check_same(FeedForward<F, 6, 10>(0.3f), FeedForward<F>(6, 10, 0.3f), call);
  check_same(FeedForward<F, 6, 10, Gelu>(0.3f), FeedForward<F, dynamic, dynamic, Gelu>(6, 10, 0.3f), call);
  check_same(GatedFeedForward<F, 6, 10>(0.3f), GatedFeedForward<F>(6, 10, 0.3f), call);
}

TEST_CASE("run-time sizes: self-attention and cross-attention give the same bits as static ones") {
  const auto self = [](Tape<F>& tape, auto& layer, auto x) { return layer(x, upload(tape, text).rows); };
  check_same(MultiHead<F, 6, 2>(0.3f), MultiHead<F>({.width = 6, .heads = 2}, 0.3f), self);
  check_same(MultiHead<F, 6, 3, Full<>, Mask::causal>(),
             MultiHead<F, dynamic, dynamic, Full<>, Mask::causal>({.width = 6, .heads = 3}), self);
  check_same(MultiHead<F, 6, 2>(0.3f), MultiHead<F>({.width = 6, .heads = 2}, 0.3f),
             [](Tape<F>& tape, auto& layer, auto x) {
               const Ragged rows = upload(tape, text).rows;
               return layer(x, rows, layer.remember(x, rows));
             });
}

TEST_CASE_TEMPLATE("run-time sizes: residual connections give the same bits as static ones", Norm, PostNorm, PreNorm,
                   PreNormOf<RmsNorm>) {
  check_same(Residual<F, 6, Norm>(0.3f), Residual<F, dynamic, Norm>(6, 0.3f),
             [](Tape<F>&, auto& layer, auto x) { return layer(x, [](auto in) { return in; }); });
}

TEST_CASE("run-time sizes: embeddings give the same bits as static ones") {
  const auto embed = [](Tape<F>& tape, auto& layer, auto x) {
    const Variable<F> sum = layer(tape, upload(tape, text)) + x;
    return sum;
  };
  check_same(Embedding<F, 6>(7, 0.3f), Embedding<F>(7, 6, 0.3f), embed);
  check_same(Embedding<F, 6, Learned<5>>(7), Embedding<F, dynamic, Learned<5>>(7, 6), embed);
  check_same(Embedding<F, 6, NoPositions>(7), Embedding<F, dynamic, NoPositions>(7, 6), embed);
  check_same(WordEmbedding<F, 6>(7, 0.3f), WordEmbedding<F>(7, 6, 0.3f), embed);
}

TEST_CASE("run-time sizes: output layers and stacks give the same bits as static ones") {
  const auto logits = [](Tape<F>&, auto& layer, auto x) { return layer.logits(x); };
  check_same(Output<F, 6>(9), Output<F>(9, 6), logits);
  check_same(Output<F, 6>(9, false), Output<F>(9, 6, false), logits);
  check_same(Stack<Linear<F, 6, 6>, 3>(3), Stack<Linear<F>>(3, 6, 6), [](Tape<F>&, auto& layers, Variable<F> x) {
    for (const auto& layer : layers) x = layer(x);
    return x;
  });
}

TEST_CASE("run-time sizes: an output loss has the same bits as a static one") {
  const auto run = [](auto layer) {
    F device(2);
    Input<F, 6> input(7);
    Together model(layer, input);
    Parameters<F> parameters(device, model, 5);
    Tape<F> tape(device, TapeMode::gradients());
    auto loss = layer.loss(input(tape), upload(tape, text), {.amount = 0.1});
    loss.backward();
    return std::pair(loss.value(), parameters.read_gradient(parameters.find("0.weight")));
  };
  CHECK(run(Output<F, 6>(9)) == run(Output<F>(9, 6)));
}

TEST_CASE("run-time sizes: the error for different widths names both layers and widths") {
  D device;
  Linear<D> linear(6, 5), other(4, 8);
  Projection<D> projection(6, 3);
  LayerNorm<D> norm(6);
  RmsNorm<D> rms(8);
  FeedForward<D> inner(8, 10);
  FeedForward<D, dynamic, dynamic, Gelu> gelu(6, 10);
  GatedFeedForward<D> gated(4, 10);
  MultiHead<D> heads({.width = 6, .heads = 2});
  Residual<D, dynamic, PreNorm> residual(6);
  Embedding<D> words(7, 4);
  Output<D> output(9, 8);
  Together model(linear, other, projection, norm, rms, inner, gelu, gated, heads, residual, words, output);
  Parameters<D> parameters(device, model, 1);
  Tape<D> tape(device);
  const Ragged rows = upload(tape, text).rows;
  const Variable<D> x = tape.make(7, 6);
  device.zero(x.value);
  const auto says = [](const auto& action, const std::string& sentence) {
    CHECK_MESSAGE(complaint(action).find(sentence) == 0, complaint(action));
  };
  says([&] { norm(linear(x)); }, "LayerNorm takes an input of 6 columns, but Linear gives 5");
  says([&] { other(norm(x)); }, "Linear takes an input of 4 columns, but LayerNorm gives 6");
  says([&] { other.outputs(projection(x), 0, 1); }, "Linear takes an input of 4 columns, but Projection gives 3");
  says([&] { projection(rms(other(words(tape, upload(tape, text))))); },
       "Projection takes an input of 6 columns, but RmsNorm gives 8");
  says([&] { rms(gelu(x)); }, "RmsNorm takes an input of 8 columns, but FeedForward gives 6");
  says([&] { inner(heads(x, rows)); }, "FeedForward takes an input of 8 columns, but MultiHead gives 6");
  says([&] { gelu(inner(tape.make(7, 8))); }, "FeedForward takes an input of 6 columns, but FeedForward gives 8");
  says([&] { gated(residual(x, [](auto in) { return in; })); },
       "GatedFeedForward takes an input of 4 columns, but Residual gives 6");
  says([&] { heads(words(tape, upload(tape, text)), rows); },
       "MultiHead takes an input of 6 columns, but Embedding gives 4");
  says([&] { heads.remember(linear(x), rows); }, "MultiHead takes an input of 6 columns, but Linear gives 5");
  says([&] { heads(linear(x), rows, heads.remember(x, rows)); },
       "MultiHead takes an input of 6 columns, but Linear gives 5");
  says([&] { output.logits(linear(x)); }, "Output takes an input of 8 columns, but Linear gives 5");
  says([&] { output.loss(linear(x), upload(tape, text)); }, "Output takes an input of 8 columns, but Linear gives 5");
  says([&] { other(x); }, "Linear takes an input of 4 columns, but the layer below it gives 6");
}

TEST_CASE("run-time sizes: widths are checked where a dynamic layer meets a static one") {
  D device;
  Linear<D> below(6, 5);
  Linear<D, 4, 2> above;
  Together model(below, above);
  Parameters<D> parameters(device, model, 1);
  Tape<D> tape(device);
  const Variable<D> x = tape.make(3, 6);
  CHECK(complaint([&] { above(below(x)); }) == "an activation of 5 columns, the output of Linear, but the type says 4");
}

TEST_CASE("run-time sizes: a size that contradicts the type or is invalid is an error") {
  const auto says = [](const auto& action, const std::string& sentence) {
    CHECK_MESSAGE(complaint(action).find(sentence) != std::string::npos, complaint(action));
  };
  says([] { Linear<D, 6, 5>(6, 4); }, "a size is 4, but the type says 5");
  says([] { Linear<D>(0, 4); }, "the size 0 of a layer must be positive");
  says([] { LayerNorm<D>(-3); }, "the size -3 of a layer must be positive");
  says([] { Linear<D>(Index{1} << 40, 4); }, "must be positive and at most 2^30");
  says([] { MultiHead<D>({.width = 6, .heads = 4}); }, "a width of 6 is not a multiple of 4 heads");
  says([] { MultiHead<D>({.width = 6, .heads = 0}); }, "a width of 6 is not a multiple of 0 heads");
  says([] { MultiHead<D>({.width = 8, .heads = 4, .key_value_heads = 3}); }, "4 heads are not a multiple of 3 heads");
  says([] { Embedding<D>(7, 5); }, "sinusoidal positions come in pairs, so the width must be even, not 5");
  says([] { Stack<Linear<D>>(0, 6, 6); }, "the size 0 of a layer must be positive");
  says([] { Stack<Linear<D>, 2>(3, 6, 6); }, "a size is 3, but the type says 2");
}
