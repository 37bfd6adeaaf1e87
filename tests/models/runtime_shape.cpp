// Models whose shape is given at run time, beside those whose shape is part of their type.

#include <set>

#include "attn/data/plain_text.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/models/language_model.hpp"
#include "attn/models/text_encoder.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;
using F = Cpu<float>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 3, .width = 24, .heads = 4, .inner = 40};
constexpr TransformerShape linformer_shape{
    .encoder_layers = 2, .decoder_layers = 3, .width = 24, .heads = 4, .inner = 40, .linformer_k = 8, .linformer_n = 16};
const TransformerDropout rates{.residual = 0.2f, .attention = 0.2f, .activation = 0.2f};
constexpr Index kVocabulary = 15;

/// What a training step and greedy decoding compute, to be compared to the bit.
template <class Device>
struct Results {
  std::vector<std::string> parameters;
  double loss = 0;
  std::vector<typename Device::Real> gradients;
  std::vector<std::vector<Token>> texts;
  bool operator==(const Results&) const = default;
};

/// Of a step with dropout on two threads, and of decoding until `end`.
template <class Model>
auto results_of(const typename Model::Options& options, const Batch& batch, const Sentences& read) {
  using Device = typename Model::DeviceType;
  Device device(2);
  Network<Model> network(device, options, 7);
  shake(network.parameters, 0.4);
  Results<Device> results;
  for (const auto& entry : network.parameters.entries()) results.parameters.push_back(entry.name);
  {
    Tape<Device> tape(device, TapeMode::training(1, 1));
    auto loss = network->loss(tape, batch, {.amount = 0.1});
    loss.backward();
    results.loss = loss.value();
  }
  const auto* gradients = network.parameters.gradients();
  results.gradients.assign(gradients, gradients + network.parameters.size());
  for (const Token end : {3, 5, 9})
    for (const auto& text : greedy(device, *network, read, {.begin = 2, .end = end, .limit = 8}))
      results.texts.push_back(text);
  return results;
}

template <class Device>
void check_same(const Results<Device>& ours, const Results<Device>& theirs) {
  CHECK(ours.parameters == theirs.parameters);
  CHECK(ours.loss == theirs.loss);
  CHECK(ours.gradients == theirs.gradients);
  CHECK(ours.texts == theirs.texts);
  CHECK(ours.loss > 1);
  CHECK(largest_difference(ours.gradients, std::vector<double>(ours.gradients.size(), 0)) > 1e-2);
  CHECK(std::set(ours.texts.begin(), ours.texts.end()).size() >= 3);  // else the model is too dull to test with
}

template <class Static, class Dynamic>
void check_translation_models(const TransformerShape& given) {
  const Sentences source = random_sentences({5, 1, 16, 0, 9, 3}, kVocabulary, 1);
  const Batch batch = Batch::of(source, random_sentences({4, 2, 12, 1, 0, 7}, kVocabulary, 2), special_tokens);
  TransformerOptions options{.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .dropout = rates};
  const auto fixed = results_of<Static>(options, batch, source);
  options.shape = given;
  check_same(results_of<Dynamic>(options, batch, source), fixed);
}

/// What making a model of this shape says.
template <class Model>
std::string refusal(const TransformerShape& given) {
  typename Model::Options options;
  options.shape = given;
  if constexpr (requires { options.vocabulary; })
    options.vocabulary = kVocabulary;
  else
    options.source_vocabulary = options.target_vocabulary = kVocabulary;
  return complaint([&] { Model model(options); });
}

}  // namespace

TEST_CASE_TEMPLATE("run-time shape: a Transformer gives the same bits as one with a static shape", Device, D, F) {
  check_translation_models<Transformer<Device, shape>, Transformer<Device>>(shape);
  check_translation_models<Transformer<Device, shape, Full<>, PreNormOf<RmsNorm>, Gelu, Learned<20>>,
                           Transformer<Device, dynamic_shape, Full<>, PreNormOf<RmsNorm>, Gelu, Learned<20>>>(shape);
}

TEST_CASE_TEMPLATE("run-time shape: a Linformer with run-time k and n equals the static one", Device, D, F) {
  check_translation_models<Transformer<Device, shape, Linformer<8, 16>>, Transformer<Device, dynamic_shape, Linformer<>>>(
      linformer_shape);
}

TEST_CASE_TEMPLATE("run-time shape: a Linformer accepts run-time k and n for every sharing", Policy,
                   std::integral_constant<Sharing, Sharing::none>, std::integral_constant<Sharing, Sharing::key_value>,
                   std::integral_constant<Sharing, Sharing::layers>) {
  constexpr Sharing sharing = Policy::value;
  check_translation_models<Transformer<D, shape, Linformer<8, 16, sharing>>,
                           Transformer<D, dynamic_shape, Linformer<dynamic, dynamic, sharing>>>(linformer_shape);
}

TEST_CASE("run-time shape: a static shape can leave the Linformer's k and n to run time") {
  check_translation_models<Transformer<D, shape, Linformer<8, 16>>, Transformer<D, linformer_shape, Linformer<>>>({});
}

TEST_CASE_TEMPLATE("run-time shape: a language model gives the same bits as one with a static shape", Device, D, F) {
  const Sentences texts = random_sentences({5, 1, 16, 0, 9, 3}, kVocabulary, 1),
                  prompts = random_sentences({4, 1, 7}, kVocabulary, 3);
  const Batch batch = Batch::of(plain_corpus(texts).source, texts, special_tokens);
  const auto check = [&]<class Static, class Dynamic>() {
    LanguageModelOptions options{.vocabulary = kVocabulary, .dropout = rates, .tie_output = false};
    const auto fixed = results_of<Static>(options, batch, prompts);
    options.shape = shape;
    check_same(results_of<Dynamic>(options, batch, prompts), fixed);
  };
  check.template operator()<LanguageModel<Device, shape>, LanguageModel<Device>>();
  check.template operator()<LanguageModel<Device, shape, PreNorm, Gelu, Learned<40>>,
                            LanguageModel<Device, dynamic_shape, PreNorm, Gelu, Learned<40>>>();
}

TEST_CASE_TEMPLATE("run-time shape: a text encoder gives the same bits as one with a static shape", Device, D, F) {
  const auto run = []<class Model>(const TextEncoderOptions& options) {
    Device device(2);
    Network<Model> network(device, options, 7);
    shake(network.parameters, 0.4);
    std::vector<typename Device::Scalar> numbers;
    {
      Tape<Device> tape(device, TapeMode::training(1, 1));
      const auto states = (*network)(tape, upload(tape, random_sentences({5, 1, 16, 0}, kVocabulary, 1)));
      numbers = rows_of(states);
      mixture(tape, states);
      tape.backward();
    }
    const auto* gradients = network.parameters.gradients();
    numbers.insert(numbers.end(), gradients, gradients + network.parameters.size());
    return numbers;
  };
  const TextEncoderOptions options{.vocabulary = kVocabulary, .dropout = rates, .shape = linformer_shape};
  const auto fixed = run.template operator()<TextEncoder<Device, shape>>({.vocabulary = kVocabulary, .dropout = rates});
  CHECK(run.template operator()<TextEncoder<Device>>(options) == fixed);
  const auto linformer = run.template operator()<TextEncoder<Device, shape, Linformer<8, 16>>>(options);
  CHECK(run.template operator()<TextEncoder<Device, dynamic_shape, Linformer<>>>(options) == linformer);
  CHECK(linformer.size() != fixed.size());
}

TEST_CASE("run-time shape: the model returns its shape") {
  const TransformerOptions options{.source_vocabulary = 9, .target_vocabulary = 9, .shape = linformer_shape};
  CHECK(Transformer<D>(options).shape == linformer_shape);
  CHECK(Transformer<D, shape>(options).shape == shape);
  CHECK(Transformer<D>({.source_vocabulary = 9, .target_vocabulary = 9}).shape == base_shape);
  CHECK(LanguageModel<D>({.vocabulary = 9, .shape = shape}).shape == shape);
  CHECK(TextEncoder<D>({.vocabulary = 9, .shape = shape}).shape == shape);
}

TEST_CASE_TEMPLATE("run-time shape: an error names an invalid size", Model, Transformer<D>, LanguageModel<D>,
                   TextEncoder<D>) {
  const auto with = [](auto member, int size) {
    TransformerShape changed = shape;
    changed.*member = size;
    return refusal<Model>(changed);
  };
  using Shape = TransformerShape;
  CHECK(with(&Shape::heads, 5) == "Transformer: a width of 24 is not a multiple of 5 heads; choose a width that is");
  CHECK(with(&Shape::width, 0) == "Transformer: its width is 0; it must be positive");
  CHECK(with(&Shape::width, -24) == "Transformer: its width is -24; it must be positive");
  CHECK(with(&Shape::heads, 0) == "Transformer: its number of heads is 0; it must be positive");
  CHECK(with(&Shape::inner, 0) == "Transformer: its inner width of the feed-forward block is 0; it must be positive");
  TransformerShape odd = shape;
  odd.width = 25, odd.heads = 5;
  CHECK(refusal<Model>(odd) == "Embedding: sinusoidal positions come in pairs, so the width must be even, not 25");
}

TEST_CASE("run-time shape: zero layers are an error only in stacks that the model has") {
  TransformerShape no_encoder = shape, no_decoder = shape;
  no_encoder.encoder_layers = 0, no_decoder.decoder_layers = 0;
  const std::string encoder = "Transformer: its number of encoder layers is 0; it must be positive",
                    decoder = "Transformer: its number of decoder layers is 0; it must be positive";
  CHECK(refusal<Transformer<D>>(no_encoder) == encoder);
  CHECK(refusal<Transformer<D>>(no_decoder) == decoder);
  CHECK(refusal<LanguageModel<D>>(no_encoder) == "no complaint");
  CHECK(refusal<LanguageModel<D>>(no_decoder) == decoder);
  CHECK(refusal<TextEncoder<D>>(no_encoder) == encoder);
  CHECK(refusal<TextEncoder<D>>(no_decoder) == "no complaint");
}

TEST_CASE("run-time shape: the error for a Linformer without k or n says where to set them") {
  using Model = Transformer<D, dynamic_shape, Linformer<>>;
  CHECK(refusal<Model>(shape) ==
        "Linformer: its k is set neither in its type nor in the model's shape. Write Linformer<32>, or set linformer_k.");
  TransformerShape without_n = linformer_shape;
  without_n.linformer_n = 0;
  CHECK(refusal<Model>(without_n).find("set linformer_n") != std::string::npos);
  CHECK(refusal<Transformer<D, dynamic_shape, Linformer<8>>>(shape) == "no complaint");
}
