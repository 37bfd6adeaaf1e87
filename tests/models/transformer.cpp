#include "attn/models/transformer.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 8, .heads = 2, .inner = 12};
const TransformerDropout rates{.residual = 0.2f, .attention = 0.2f, .activation = 0.2f};

Batch small_batch() {
  Batch batch;
  const std::vector<std::vector<Token>> from{{4, 5, 6, 7, 8}, {9}, {4, 4}, {}}, to{{4, 5, 12}, {}, {6}, {7, 4}};
  for (std::size_t i = 0; i < from.size(); ++i) batch.add(from[i], to[i], special_tokens);
  return batch;
}

template <class Model>
void check_model(const TransformerOptions& options) {
  D device(1);  // thousands of tiny passes: threads would only wait for one another
  Model model(options);
  Parameters<D> parameters(device, model, 1);
  shake(parameters, 0.2);
  const Batch batch = small_batch();
  const auto loss = [&](Tape<D>& tape) { return model.loss(tape, batch, {.amount = 0.1}); };
  check_gradients(parameters, loss, TapeMode::gradients(), 8);
  check_gradients(parameters, loss, TapeMode::training(1, 1), 8);
}

/// The same batch on a tape for training and on a tape for inference.
template <class Device, class Attention, class Norm>
void check_one_path() {
  Device device;
  Transformer<Device, shape, Attention, Norm> model(
      {.source_vocabulary = 11, .target_vocabulary = 13, .dropout = {0, 0, 0}});
  Parameters<Device> parameters(device, model, 1);
  const Batch batch = small_batch();
  struct Result {
    std::vector<typename Device::Scalar> memory, hidden;
    double nll, loss;
    bool operator==(const Result&) const = default;
  };
  const auto run = [&](TapeMode mode) {
    Tape<Device> tape(device, mode);
    const Text source = upload(tape, batch.source);
    const auto memory = model.encode(tape, source);
    const auto hidden = model.decode(tape, upload(tape, batch.target_input), memory, source.rows);
    Result result{rows_of(memory), rows_of(hidden), 0, 0};
    auto loss = model.output.loss(hidden, upload(tape, batch.target_output), {.amount = 0.1});
    if (tape.recording()) loss.backward();
    const auto sums = loss.read();
    result.nll = sums.nll;
    result.loss = sums.loss;
    return result;
  };
  const Result training = run(TapeMode::training(1, 1)), inference = run(TapeMode::inference());
  CHECK(training.memory == inference.memory);
  CHECK(training.hidden == inference.hidden);
  CHECK(training.nll == inference.nll);
  CHECK(training.loss == inference.loss);
}

template <class Model>
std::vector<std::string> names_of(const TransformerOptions& options) {
  D device;
  Model model(options);
  Parameters<D> parameters(device, model, 1);
  std::vector<std::string> names;
  for (const auto& entry : parameters.entries()) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE_TEMPLATE("transformer: gradients of all parameters match finite differences with and without dropout", Model,
                   Transformer<D, shape>, Transformer<D, shape, Full<DotProduct>>, Transformer<D, shape, Full<>, PreNorm>) {
  check_model<Model>({.source_vocabulary = 11, .target_vocabulary = 13, .dropout = rates});
}

TEST_CASE("transformer: gradients are correct with shared embeddings and a tied output layer") {
  TransformerOptions options{.source_vocabulary = 13, .target_vocabulary = 13, .dropout = rates};
  options.share_embeddings = true;
  check_model<Transformer<D, shape>>(options);
  options.tie_output = true;
  check_model<Transformer<D, shape>>(options);
  options.share_embeddings = false;
  check_model<Transformer<D, shape>>(options);
}

TEST_CASE("transformer: shared parameters are stored once") {
  TransformerOptions options{.source_vocabulary = 13, .target_vocabulary = 13};
  const auto count = [](const auto& names, const char* name) { return std::count(names.begin(), names.end(), name); };
  auto names = names_of<Transformer<D, shape>>(options);
  const std::size_t all = names.size();
  CHECK(all == 2 + 2 * 12 + 2 * 18 + 2);
  options.share_embeddings = options.tie_output = true;
  names = names_of<Transformer<D, shape>>(options);
  CHECK(names.size() == all - 2);
  CHECK(count(names, "target_embedding.table") == 1);
  CHECK(count(names, "source_embedding.table") == 0);
  CHECK(count(names, "output.weight") == 0);
  CHECK(count(names, "output.bias") == 1);

  D device;
  Transformer<D, shape> model(options);
  Parameters<D> parameters(device, model, 1);
  CHECK(model.source_embedding.table.value == model.target_embedding.table.value);
  CHECK(model.output.weight.gradient == model.target_embedding.table.gradient);

  options.source_vocabulary = 11;
  const std::string said = complaint([&] { names_of<Transformer<D, shape>>(options); });
  CHECK(said.find("source_embedding.table") != std::string::npos);
  CHECK(said.find("11 x 8 differs from 13 x 8") != std::string::npos);
}

TEST_CASE("transformer: the paper's base model has the published size") {
  Transformer<D> model(
      {.source_vocabulary = 37000, .target_vocabulary = 37000, .share_embeddings = true, .tie_output = true});
  ParameterWalk<D> walk;
  model.for_each_parameter(walk);
  Index count = 0;
  for (const auto& found : walk.found) count += found.tied_to == nullptr ? found.parameter->size() : 0;
  const Index attention = 4 * 512 * 512 + 4 * 512, forward = 2 * 512 * 2048 + 2048 + 512, norm = 2 * 512;
  CHECK(count == 37000 * 512 + 37000 + 6 * (attention + forward + 2 * norm) + 6 * (2 * attention + forward + 3 * norm));
}

TEST_CASE_TEMPLATE("transformer: training without dropout gives the same bits as inference", Device, Cpu<double>,
                   Cpu<float>) {
  check_one_path<Device, Full<>, PostNorm>();
  check_one_path<Device, Full<>, PreNorm>();
  check_one_path<Device, Linformer<3, 8>, PostNorm>();
}

TEST_CASE("transformer: dropout is active only in training and differs by step and repeats with the seed") {
  D device;
  Transformer<D, shape> model({.source_vocabulary = 11, .target_vocabulary = 13, .dropout = rates});
  Parameters<D> parameters(device, model, 1);
  const Sentences text = sentences({{4, 5, 6}, {7}});
  const auto run = [&](TapeMode mode) {
    Tape<D> tape(device, mode);
    return rows_of(model.encode(tape, upload(tape, text)));
  };
  const auto first = run(TapeMode::training(1, 1));
  CHECK(first == run(TapeMode::training(1, 1)));
  CHECK(first != run(TapeMode::training(1, 2)));
  CHECK(first != run(TapeMode::training(2, 1)));
  CHECK(first != run(TapeMode::inference()));
  CHECK(run(TapeMode::gradients()) == run(TapeMode::inference()));
}

TEST_CASE("transformer: initializers can be set before parameters are drawn") {
  D device;
  Transformer<D, shape> model({.source_vocabulary = 11, .target_vocabulary = 13});
  model.output.bias.initial = Initializer::constant(0.25);
  Parameters<D> parameters(device, model, 1);
  CHECK(parameters.read(parameters.find("output.bias")) == std::vector<double>(13, 0.25));
}
