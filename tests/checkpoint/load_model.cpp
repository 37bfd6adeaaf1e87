#include "attn/checkpoint/load_model.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "attn/models/language_model.hpp"
#include "attn/models/text_encoder.hpp"
#include "attn/optim/adam.hpp"
#include "attn/seq2seq.hpp"
#include "attn/train/checkpoint.hpp"
#include "attn/transformer.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

using Host = Cpu<float>;
constexpr TransformerShape tiny{.encoder_layers = 1, .decoder_layers = 1, .width = 4, .heads = 2, .inner = 6};
using Plain = Transformer<Host, tiny>;
constexpr TransformerOptions vocabulary{.source_vocabulary = 5, .target_vocabulary = 5};

template <class Model>
struct Made {
  Host device;
  Model model;
  Parameters<Host> parameters;
  explicit Made(const TransformerOptions& options = vocabulary, std::uint64_t seed = 1)
      : model(options), parameters(device, model, seed) {}
  std::vector<float> numbers() const { return {parameters.values(), parameters.values() + parameters.size()}; }
};

const LoadOptions any_left_over{.allow_left_over = [](const std::string&) { return true; }};

/// What loading one model's file into another says.
template <class From, class To>
std::string complaint(const TransformerOptions& from, const TransformerOptions& to) {
  const TemporaryFolder folder;
  save_model(folder / "model", Made<From>(from).parameters);
  Made<To> made(to, 2);
  const auto before = made.numbers();
  const std::string sentence = error_of([&] { load_model(SafetensorsFile(folder / "model"), made.parameters); });
  CHECK(made.numbers() == before);
  CHECK(contains(sentence, (folder / "model").string()));
  return sentence;
}

/// A layer of one parameter, and the file of tensors that are to fill it.
struct Alone {
  Host device;
  struct Layer {
    Parameter<Host> weight;
    void for_each_parameter(auto&& visit) { visit("weight", weight); }
  } layer;
  Parameters<Host> parameters;
  TemporaryFolder folder;

  Alone(Index rows, Index cols) : layer{{rows, cols}}, parameters(device, layer, 1) {}

  std::vector<float> load(std::vector<TensorView> tensors, std::vector<StoredPart> parts, LoadOptions options = {}) {
    save_safetensors(folder / "x", tensors);
    options.parts_of = [parts](const std::string&) { return parts; };
    load_model(SafetensorsFile(folder / "x"), parameters, options);
    return parameters.read(parameters.entries()[0]);
  }
  std::string refuse(std::vector<TensorView> tensors, std::vector<StoredPart> parts, LoadOptions options = {}) {
    return error_of([&] { load(tensors, parts, options); });
  }
};

}  // namespace

TEST_CASE("load_model: restores the same bits from a model file and from a training file") {
  const TemporaryFolder folder;
  Made<Plain> saved;
  Adam<Host> adam(saved.parameters);
  save_model(folder / "model", saved.parameters);
  save_training(folder / "training", saved.parameters, adam, TrainState{});
  for (const char* name : {"model", "training"}) {
    Made<Plain> loaded(vocabulary, 2);
    REQUIRE(loaded.numbers() != saved.numbers());
    load_model(SafetensorsFile(folder / name), loaded.parameters);
    CHECK(loaded.numbers() == saved.numbers());
  }
}

TEST_CASE("load_model: an error names options that explain missing or extra tensors") {
  constexpr TransformerOptions shared{5, 5, {}, true, false}, tied{5, 5, {}, false, true}, both{5, 5, {}, true, true};
  using PreNormed = Transformer<Host, tiny, Full<>, PreNorm>;
  using Deeper = Transformer<Host, TransformerShape{3, 1, 4, 2, 6}>;
  using Short = Transformer<Host, tiny, Linformer<2, 8>>;
  using Joint = Transformer<Host, tiny, Linformer<2, 8, Sharing::key_value>>;
  const auto check = [](const std::string& sentence, std::initializer_list<const char*> parts) {
    CAPTURE(sentence);
    for (const char* part : parts) CHECK_MESSAGE(contains(sentence, part), part);
  };

  check(complaint<Plain, Plain>(shared, vocabulary),
        {"there is no tensor 'source_embedding.table'", "the file's model shares its embeddings: set share_embeddings"});
  check(complaint<Plain, Plain>(vocabulary, shared),
        {"the model has no parameter 'source_embedding.table'", "unset share_embeddings"});
  check(complaint<Plain, Plain>(tied, vocabulary), {"there is no tensor 'output.weight'", "set tie_output"});
  check(complaint<Plain, Plain>(vocabulary, tied), {"no parameter 'output.weight'", "unset tie_output"});
  check(complaint<Plain, Plain>(both, vocabulary),
        {"no tensor 'source_embedding.table', 'output.weight'", "set share_embeddings", "set tie_output"});
  check(complaint<PreNormed, Plain>(vocabulary, vocabulary),
        {"no parameter 'encoder.norm.gain'", "'encoder.norm.bias'", " and 1 more",
         "use PreNorm if it normalises before its sub-layers (PyTorch's norm_first=True), PostNormAndFinal if after them"});
  check(complaint<Plain, PreNormed>(vocabulary, vocabulary), {"no tensor 'encoder.norm.gain'", "use PostNorm"});
  check(complaint<Plain, Deeper>(vocabulary, vocabulary),
        {"no tensor 'encoder.layers.1.attention.in.weight'", " and 21 more",
         "the file's model has 1 layer encoder.layers., this one 3"});
  check(complaint<Deeper, Plain>(vocabulary, vocabulary), {"no parameter 'encoder.layers.", "has 3 layers"});
  check(complaint<Short, Plain>(vocabulary, vocabulary), {"no parameter", "the file's model is a Linformer"});
  check(complaint<Plain, Short>(vocabulary, vocabulary), {"no tensor", "the file's model has full attention"});
  check(complaint<Joint, Short>(vocabulary, vocabulary),
        {"no tensor 'encoder.layers.0.attention.projection.values'", "use another Sharing"});
}

TEST_CASE("load_model: names the kind of another model and suggests no option") {
  const TemporaryFolder folder;
  Host device;
  save_model(folder / "transformer", Made<Plain>().parameters);
  Network<Seq2Seq<Host, RecurrentShape{4, 4, 1, 1}, BothWays, OnEncoder<DotProduct>>> lstm(
      device, {.source_vocabulary = 5, .target_vocabulary = 5}, 1);
  Network<LanguageModel<Host, tiny>> language_model(device, {.vocabulary = 5}, 1);
  Network<TextEncoder<Host, tiny>> encoder(device, {.vocabulary = 5}, 1);
  save_model(folder / "lstm", lstm);
  const auto sentence = [&](const char* file, auto& network) {
    return error_of([&] { load_model(folder / file, network); });
  };
  CHECK(sentence("transformer", lstm).ends_with("; the file contains a Transformer, this model is an LSTM model"));
  CHECK(sentence("transformer", language_model).ends_with("contains a Transformer, this model is a language model"));
  CHECK(sentence("transformer", encoder).ends_with("contains a Transformer, this model is an encoder"));
  Made<Plain> made;
  CHECK(error_of([&] {
          load_model(SafetensorsFile(folder / "lstm"), made.parameters);
        }).ends_with("; the file contains an LSTM model, this model is a Transformer"));
}

TEST_CASE("load_model: non-strict loading loads matching tensors and reports the others") {
  const TemporaryFolder folder;
  Made<Plain> saved({5, 7}), loaded(vocabulary, 2);  // another target vocabulary
  save_model(folder / "model", saved.parameters);
  const auto before = loaded.numbers();
  const LoadReport report = load_model(SafetensorsFile(folder / "model"), loaded.parameters, {.strict = false});
  CHECK(report.missing == std::vector<std::string>{"target_embedding.table", "output.weight", "output.bias"});
  CHECK(report.unexpected == std::vector<std::string>{"target_embedding.table", "output.weight", "output.bias"});
  for (const auto& entry : loaded.parameters.entries()) {
    CAPTURE(entry.name);
    if (std::ranges::find(report.missing, entry.name) == report.missing.end())
      CHECK(loaded.parameters.read(entry) == saved.parameters.read(saved.parameters.find(entry.name)));
    else
      CHECK(std::equal(before.begin() + entry.offset, before.begin() + entry.offset + entry.size(),
                       loaded.parameters.read(entry).begin()));
  }
  Alone alone(3, 3);
  const std::vector<float> two{1, 2};
  CHECK(contains(alone.refuse({tensor_view<float>("other", two, {2})}, {{"weight"}}, {.strict = false}),
                 "no tensor has the name and shape of a parameter; the file holds 'other', the model has 'weight'"));
}

TEST_CASE("load_model: a file without common names is another model and no option is suggested") {
  const TemporaryFolder folder;
  const std::vector<float> two{1, 2};
  const std::vector<TensorView> none, others{tensor_view<float>("bert.pooler.weight", two, {2})};
  const auto refused = [&](const std::vector<TensorView>& tensors, const LoadOptions& options = {}) {
    save_safetensors(folder / "x", tensors);
    Made<Plain> made;
    return error_of([&] { load_model(SafetensorsFile(folder / "x"), made.parameters, options); });
  };
  const std::string other = refused(others), empty = refused(none), some = refused(others, any_left_over);
  CHECK(contains(other, "the file belongs to another model: there is no tensor 'source_embedding.table', "));
  CHECK(contains(other, "the model has no parameter 'bert.pooler.weight'; no names match"));
  CHECK(contains(empty, "the file belongs to another model: there is no tensor 'source_embedding.table', "));
  CHECK(contains(empty, "; it holds no tensors"));
  CHECK(contains(some, "; no names match"));
  for (const std::string& sentence : {other, empty, some}) {
    CHECK_FALSE(contains(sentence, "share_embeddings"));
    CHECK_FALSE(contains(sentence, "tie_output"));
  }
}

TEST_CASE("load_model: finds mismatched model tensors among the optimiser tensors of a training file") {
  const TemporaryFolder folder;
  Made<Plain> saved;
  Adam<Host> adam(saved.parameters);
  save_training(folder / "training", saved.parameters, adam, TrainState{});
  Made<Plain> shared({5, 5, {}, true, true});
  const std::string sentence = error_of([&] { load_model(SafetensorsFile(folder / "training"), shared.parameters); });
  CHECK(contains(sentence, "no parameter 'source_embedding.table', 'output.weight'; "));
  CHECK_FALSE(contains(sentence, "adam"));
}

TEST_CASE("load_model: an error names both shapes and points out a different vocabulary") {
  using Wider = Transformer<Host, TransformerShape{1, 1, 8, 2, 6}>;
  CHECK(
      contains(complaint<Plain, Wider>(vocabulary, vocabulary),
               "tensor 'source_embedding.table' has the shape [5,4], but [5,8] is needed for 'source_embedding.table'; the "
               "file belongs to another model"));
  CHECK(
      contains(complaint<Plain, Plain>({7, 5}, vocabulary),
               "'source_embedding.table' has the shape [7,4], but [5,4] is needed for 'source_embedding.table'; the file's "
               "model has a vocabulary of 7, this one of 5. Use the tokenizer of the file's model"));
  CHECK(contains(complaint<Plain, Plain>({5, 7}, vocabulary), "'target_embedding.table' has the shape [7,4]"));
}

TEST_CASE("load_model: reads every floating type") {
  Alone alone(2, 1);
  const std::vector<double> wide{0.5, -1.25};
  const std::vector<float> narrow{0.5f, -1.25f};
  const std::vector<std::uint16_t> half{0x3800, 0xbd00}, brain{0x3f00, 0xbfa0};
  const std::vector<std::int64_t> whole{1, 2};
  for (const TensorView& tensor :
       {tensor_view<double>("x", wide, {2}), tensor_view<float>("x", narrow, {2}),
        TensorView{"x", DType::f16, {2}, half.data()}, TensorView{"x", DType::bf16, {2}, brain.data()}}) {
    alone.parameters.write(alone.parameters.entries()[0], {0, 0});
    CHECK(alone.load({tensor}, {{"x"}}) == narrow);
  }
  CHECK(contains(alone.refuse({tensor_view<std::int64_t>("x", whole, {2})}, {{"x"}}),
                 "tensor 'x' holds I64, but a parameter needs F64, F32, F16 or BF16"));
}

TEST_CASE("load_model: loads parts under other names or transposed or by rows or not at all") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6}, two{7, 8};
  const TensorView matrix = tensor_view<float>("h", six, {2, 3}), row = tensor_view<float>("q", two, {1, 2});
  Alone square(3, 2);
  CHECK(square.load({matrix}, {{"h", true}}) == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(square.load({matrix, row}, {{"q"}, {"h", true, 1}}) == std::vector<float>{7, 8, 2, 5, 3, 6});
  CHECK(square.load({matrix, row}, {{"h", true, 2, 1}, {"q"}, {"h", true, 0, 1}}) == std::vector<float>{3, 6, 7, 8, 1, 4});
  CHECK(square.load({matrix}, {}, any_left_over) == std::vector<float>{3, 6, 7, 8, 1, 4});
  const std::vector<double> wide(six.begin(), six.end());
  CHECK(square.load({tensor_view<double>("h", wide, {3, 2})}, {{"h", false, 1}, {"h", false, 0, 1}}) ==
        std::vector<float>{3, 4, 5, 6, 1, 2});

  CHECK(contains(square.refuse({matrix}, {{"h"}}), "'h' has the shape [2,3], but [3,2] is needed for 'weight'"));
  CHECK(contains(square.refuse({matrix}, {{"h", true, 2, 2}}), "[2,3], transposed, but"));
  CHECK(contains(square.refuse({matrix}, {{"h", true, 2, 2}}), "rows 2 to 4 are not in it"));
  CHECK(contains(square.refuse({matrix}, {{"h", true, 1}}), "the file belongs to another model"));
  CHECK(contains(square.refuse({matrix, row}, {{"h", true}, {"q"}}), "its parts do not add up to its rows"));
  CHECK(contains(square.refuse({matrix}, {{"g"}}), "there is no tensor 'g'; the model has no parameter 'h'"));
  CHECK(contains(square.refuse({matrix, row}, {{"h", true}}), "the model has no parameter 'q'"));
  CHECK(square.load({matrix, row}, {{"h", true}}, any_left_over).size() == 6);
}

TEST_CASE("load_model: rejects NaN and infinity and overflow by name unless allowed") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Alone alone(2, 1);
  const auto before = alone.parameters.read(alone.parameters.entries()[0]);
  for (const float bad : {infinity, -infinity, nan}) {
    const std::vector<float> numbers{1, bad};
    const TensorView tensor = tensor_view<float>("x", numbers, {2});
    CHECK(contains(alone.refuse({tensor}, {{"x"}}), "tensor 'x' contains "));
    CHECK(alone.parameters.read(alone.parameters.entries()[0]) == before);
    Alone other(2, 1);
    CHECK_FALSE(std::isfinite(other.load({tensor}, {{"x"}}, {.allow_not_finite = true})[1]));
  }
  const std::vector<double> large{1, 1e300};
  CHECK(contains(alone.refuse({tensor_view<double>("x", large, {2})}, {{"x"}}), "too large for the model's type"));
}
