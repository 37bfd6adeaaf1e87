#include "attn/models/language_model.hpp"

#include <set>

#include "attn/data/plain_text.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/optim/adam.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;
using F = Cpu<float>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 0, .decoder_layers = 2, .width = 8, .heads = 2, .inner = 12};

template <class Device>
using Plain = LanguageModel<Device, shape>;
template <class Device>
using TinyGpt2 = LanguageModel<Device, shape, PreNorm, Gelu, Learned<40>>;
template <class Device>
using Modern = LanguageModel<Device, shape, PreNormOf<RmsNorm>, Swish, NoPositions>;
template <class Device>
using PostRms = LanguageModel<Device, shape, PostNormOf<RmsNorm>, GeluExact, Learned<40>>;

/// Texts between 2 and 3, without sources.
Batch batch_of(const Sentences& texts) { return Batch::of(plain_corpus(texts).source, texts, {2, 3}); }

const Sentences prompts = sentences({{4, 5, 6, 7, 8}, {9}, {4, 4, 4, 4, 4, 4, 4, 4}, {10, 9, 8}, {6}, {2, 3}});

/// A model whose texts differ from prompt to prompt, and are not one word again and again.
template <class Model>
struct Fixture {
  D device;
  Model model{{.vocabulary = 13}};
  Parameters<D> parameters{device, model, 7};

  Fixture() { shake(parameters, 0.4, 7); }

  /// Logits of the word after a text, from scratch.
  std::vector<double> from_scratch(const std::vector<Token>& text) {
    Tape<D> tape(device);
    Sentences one;
    one.push_back(text);
    const auto logits = model.output.logits(model.hidden(tape, upload(tape, one))).value;
    return {logits.row(logits.rows - 1), logits.row(logits.rows - 1) + logits.cols};
  }

  std::vector<Token> continued(std::span<const Token> prompt, Token end, Index limit) {
    std::vector<Token> text(prompt.begin(), prompt.end());
    for (Index t = 0; t < limit; ++t) {
      const auto logits = from_scratch(text);
      const auto word = static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
      if (word == end) break;
      text.push_back(word);
    }
    return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
  }
};

}  // namespace

TEST_CASE_TEMPLATE("language model: gradients of all parameters match finite differences with and without dropout", Model,
                   Plain<D>, TinyGpt2<D>, Modern<D>, PostRms<D>) {
  for (const bool tie : {true, false}) {
    D device(1);
    Model model({.vocabulary = 13, .dropout = {0.2f, 0.2f, 0.2f}, .tie_output = tie, .output_bias = !tie});
    Parameters<D> parameters(device, model, 1);
    shake(parameters, 0.2);
    const Batch batch = batch_of(sentences({{4, 5, 12}, {}, {6}, {7, 4}}));
    const auto loss = [&](Tape<D>& tape) { return model.loss(tape, batch, {.amount = 0.1}); };
    check_gradients(parameters, loss, TapeMode::gradients(), 8);
    check_gradients(parameters, loss, TapeMode::training(1, 1), 8);
  }
}

TEST_CASE("language model: the smallest GPT-2 has the published size") {
  Gpt2<D> model({.vocabulary = 50257});
  ParameterWalk<D> walk;
  model.for_each_parameter(walk);
  Index count = 0;
  for (const auto& found : walk.found) count += found.tied_to == nullptr ? found.parameter->size() : 0;
  CHECK(count == 124439808);
  CHECK(walk.found.size() == 2 + 12 * 12 + 2 + 1);
}

TEST_CASE_TEMPLATE("language model: cached greedy generation from prompts of any length equals generation from scratch",
                   Model, Plain<D>, TinyGpt2<D>, Modern<D>, PostRms<D>) {
  Fixture<Model> fixture;
  std::set<std::vector<Token>> different;
  for (Token end = 0; end < 13; ++end) {  // so that texts leave the batch at every moment
    const auto written = greedy(fixture.device, fixture.model, prompts, {.end = end, .limit = 9});
    REQUIRE(written.size() == 6);
    for (Index i = 0; i < prompts.size(); ++i) {
      CHECK(written[static_cast<std::size_t>(i)] == fixture.continued(prompts[i], end, 9));
      different.insert(written[static_cast<std::size_t>(i)]);
    }
  }
  CHECK(different.size() >= 5);  // else the model is too dull to test with
}

TEST_CASE_TEMPLATE("language model: logits do not depend on whether a prompt is read at once or by token", Model, Plain<D>,
                   TinyGpt2<D>, Modern<D>) {
  Fixture<Model> fixture;
  const std::vector<Token> text{4, 9, 9, 1, 12, 0};
  const auto after = [&](Index prompt_words) {
    Tape<D> tape(fixture.device);
    const std::span<const Token> words(text);
    Sentences prompt;
    prompt.push_back(words.first(static_cast<std::size_t>(prompt_words)));
    auto state = fixture.model.start(tape, upload(tape, prompt), 10);
    std::vector<double> last;
    for (std::size_t i = static_cast<std::size_t>(prompt_words) - 1; i < text.size(); ++i) {
      Tape<D> step(fixture.device);
      const auto logits = next_logits(step, fixture.model, state, {text[i]});
      last.assign(logits.row(0), logits.row(0) + logits.cols);
    }
    return last;
  };
  const auto expected = fixture.from_scratch(text);
  for (const Index prompt_words : {1, 2, 5, 6}) CHECK(largest_difference(after(prompt_words), expected) < 1e-12);
}

TEST_CASE_TEMPLATE("language model: hidden states of a text do not depend on the others", Device, Cpu<double>, Cpu<float>) {
  Device device;
  TinyGpt2<Device> model({.vocabulary = 50});
  Parameters<Device> parameters(device, model, 1);
  const Sentences all = random_sentences({5, 1, 0, 40, 13, 28}, 50, 1);
  Tape<Device> tape(device);
  const auto together = model.hidden(tape, upload(tape, all));
  for (Index i = 0; i < all.size(); ++i) {
    Sentences one;
    one.push_back(all[i]);
    const auto alone = rows_of(model.hidden(tape, upload(tape, one)));
    const auto rows = rows_of(together, all.offsets[static_cast<std::size_t>(i)], all.length(i));
    CHECK(largest_difference(alone, rows) <= (std::is_same_v<Device, Cpu<double>> ? 1e-12 : 1e-5));
  }
}

TEST_CASE("language model: rejects empty prompts and too long texts") {
  D device;
  TinyGpt2<D> model({.vocabulary = 13});
  Parameters<D> parameters(device, model, 1);
  CHECK(complaint([&] {
          greedy(device, model, sentences({{4}, {}}), {.end = 3, .limit = 5});
        }).find("prompt 1 is empty") != std::string::npos);
  CHECK(complaint([&] {
          greedy(device, model, sentences({{4, 5}}), {.end = -1, .limit = 60});
        }).find("41 tokens exceeds the 40 learned positions") != std::string::npos);
  Tape<D> tape(device);
  auto state = model.start(tape, upload(tape, sentences({{4, 5, 6}, {7}})), 1);
  next_logits(tape, model, state, {6, 7});
  CHECK(complaint([&] {
          next_logits(tape, model, state, {1, 1});
        }).find("exceeded its reserved 1 tokens") != std::string::npos);
}

TEST_CASE("language model: no prompts give no texts") {
  D device;
  Plain<D> model({.vocabulary = 13});
  Parameters<D> parameters(device, model, 1);
  CHECK(greedy(device, model, Sentences{}, {.end = 3, .limit = 5}).empty());
}

TEST_CASE_TEMPLATE("language model: memorizes a small text", Model, Plain<F>, TinyGpt2<F>, Modern<F>) {
  F device(1);
  Model model({.vocabulary = 16, .dropout = {0, 0, 0}});
  Parameters<F> parameters(device, model, 1);
  Adam<F> adam(parameters, {.clip_norm = 1});
  const Batch batch = batch_of(sentences({{5, 6, 7, 5, 8, 9}, {10, 6, 11, 12}, {13, 13, 14, 15, 4}}));
  double last = 0;
  for (std::uint64_t step = 1; step <= 300; ++step) {
    Tape<F> tape(device, TapeMode::training(1, step));
    auto loss = model.loss(tape, batch);
    loss.backward();
    last = loss.mean();
    adam.step(1e-2);
  }
  CHECK(last < 0.3);  // the first words cannot be known: log 3 / 6 is left
  const auto written = greedy(device, model, sentences({{2, 5}, {2, 10, 6}, {2, 13, 13}}), {.end = 3, .limit = 10});
  CHECK(written == std::vector<std::vector<Token>>{{6, 7, 5, 8, 9}, {11, 12}, {14, 15, 4}});
}

TEST_CASE("language model: ignores the source of a batch and needs none") {
  D device;
  Plain<D> model({.vocabulary = 13});
  Parameters<D> parameters(device, model, 1);
  Batch batch = batch_of(sentences({{4, 5}, {6}}));
  const auto loss = [&] {
    Tape<D> tape(device);
    return model.loss(tape, batch).mean();
  };
  const double expected = loss();
  CHECK(expected > 1);
  batch.source = sentences({{7, 8, 9}, {99}});
  CHECK(loss() == expected);
  batch.source = {};
  CHECK(loss() == expected);
}

TEST_CASE("language model: norm_epsilon and rope_base are Llama options") {
  D device;
  const auto logits = [&](int rope_base, float norm_epsilon) {
    Network<Llama<D>> network(
        device,
        {.vocabulary = 13,
         .shape = {.decoder_layers = 2, .width = 8, .heads = 2, .inner = 12, .key_value_heads = 1, .rope_base = rope_base},
         .norm_epsilon = norm_epsilon},
        1);
    shake(network.parameters);
    CHECK(network->decoder.norm.epsilon == norm_epsilon);
    CHECK(network->decoder.layers[1].attention_norm.norm.epsilon == norm_epsilon);
    Tape<D> tape(device);
    return rows_of<D>(network->output.logits(network->hidden(tape, upload(tape, sentences({{4, 5, 6, 7}})))));
  };
  const auto standard = logits(10000, 1e-5f);
  CHECK(largest_difference(standard, logits(500000, 1e-5f)) > 1e-4);
  CHECK(largest_difference(standard, logits(10000, 1e-2f)) > 1e-4);
  CHECK(standard == logits(10000, 1e-5f));
}
