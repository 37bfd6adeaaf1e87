#include "attn/attention/linformer.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 8, .heads = 2, .inner = 12};
const TransformerOptions options{
    .source_vocabulary = 11, .target_vocabulary = 13, .dropout = {.residual = 0.2f, .attention = 0.2f, .activation = 0.2f}};

}  // namespace

TEST_CASE_TEMPLATE("linformer model: gradients of all parameters match finite differences for every sharing", Policy,
                   Linformer<3, 6, Sharing::none>, Linformer<3, 6>, Linformer<3, 6, Sharing::key_value>,
                   Linformer<3, 6, Sharing::layers>) {
  D device(1);  // thousands of tiny passes: threads would only wait for one another
  Transformer<D, shape, Policy> model(options);
  Parameters<D> parameters(device, model, 1);
  shake(parameters, 0.2);
  const Batch batch =
      Batch::of(sentences({{4, 5, 6, 7, 8, 4}, {9}, {4, 4}, {}}), sentences({{4, 5, 12}, {}, {6}, {7, 4}}), special_tokens);
  const auto loss = [&](Tape<D>& tape) { return model.loss(tape, batch); };
  check_gradients(parameters, loss, TapeMode::gradients(), 10);
  check_gradients(parameters, loss, TapeMode::training(1, 1), 10);
}

TEST_CASE("linformer model: layers that share a projection store it once per stack") {
  D device;
  Transformer<D, shape, Linformer<3, 6, Sharing::layers>> model(options);
  Parameters<D> parameters(device, model, 1);
  std::vector<std::string> names;
  for (const auto& entry : parameters.entries())
    if (entry.name.find("projection") != std::string::npos) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"encoder.layers.0.attention.projection.keys",
                                          "decoder.layers.0.cross_attention.projection.keys"});
  CHECK(model.encoder.layers[0].attention.projection.keys.value == model.encoder.layers[1].attention.projection.keys.value);
}

TEST_CASE("linformer model: decoder self-attention is full and causal") {
  D device;
  Transformer<D, shape, Linformer<3, 6>> model(options);
  Parameters<D> parameters(device, model, 1);
  const auto run = [&](Token last) {
    Tape<D> tape(device);
    const Text source = upload(tape, sentences({{4, 5, 6}}));
    const auto hidden =
        model.decode(tape, upload(tape, sentences({{2, 4, 5, last}})), model.encode(tape, source), source.rows);
    return std::pair(rows_of(hidden, 0, 3), rows_of(hidden, 3, 1));
  };
  CHECK(run(6).first == run(7).first);
  CHECK(run(6).second != run(7).second);
}

TEST_CASE("linformer model: a target may be longer than n but a source may not") {
  D device;
  Transformer<D, shape, Linformer<3, 6>> model(options);
  Parameters<D> parameters(device, model, 1);
  const Sentences words = sentences({{4, 4, 4, 4, 4, 4, 4}});
  Tape<D> tape(device);
  const Text source = upload(tape, sentences({{4}}));
  CHECK(model.decode(tape, upload(tape, words), model.encode(tape, source), source.rows).rows() == 7);
  const std::string said = complaint([&] { model.encode(tape, upload(tape, words)); });
  CHECK(said.find("a sentence of 7 tokens exceeds the projection's n = 6") != std::string::npos);
}
