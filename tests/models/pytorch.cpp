// The Transformer and the Linformer against PyTorch, with the numbers that tests/python/reference.py wrote.

#include <set>

#include "attn/checkpoint/safetensors.hpp"
#include "attn/optim/adam.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 16, .heads = 4, .inner = 32};

/// A model of reference.py on a device, with the parameters, the batch and the results of its file.
template <template <class> class ModelOn, class Device>
struct Reference {
  using Real = typename Device::Real;

  SafetensorsFile file;
  Device device;
  ModelOn<Device> model;
  Parameters<Device> parameters;
  Sentences source, target, labels;
  double bound;  // of relative errors

  explicit Reference(const std::string& name)
      : file(std::filesystem::path(ATTN_TEST_FILES) / (name + ".safetensors")),
        model({.source_vocabulary = file["parameter/source_embedding.table"].shape[0],
               .target_vocabulary = file["parameter/target_embedding.table"].shape[0],
               .dropout = {0, 0, 0}}),
        parameters(device, model, 1),
        source(text("source/tokens", "source/offsets")),
        target(text("target/tokens", "target/offsets")),
        labels(text("labels", "target/offsets")),
        bound(std::is_same_v<Real, double> ? 1e-9 : 1e-5) {
    load();
  }

  Sentences text(const char* tokens, const char* offsets) const {
    Sentences all;
    all.offsets.clear();
    for (const Index token : file.values<Index>(tokens)) all.tokens.push_back(static_cast<Token>(token));
    for (const Index offset : file.values<Index>(offsets)) all.offsets.push_back(static_cast<std::int32_t>(offset));
    return all;
  }

  /// All parameters of the file and only those, of the same shapes.
  void load() {
    std::set<std::string> ours, theirs;
    for (const auto& entry : parameters.entries()) ours.insert(entry.name);
    for (const TensorView& tensor : file.tensors())
      if (tensor.name.starts_with("parameter/")) theirs.insert(tensor.name.substr(10));
    REQUIRE(ours == theirs);
    for (const auto& entry : parameters.entries()) {
      const std::string name = "parameter/" + entry.name;
      REQUIRE(file[name].shape ==
              (entry.cols == 1 ? std::vector<Index>{entry.rows} : std::vector<Index>{entry.rows, entry.cols}));
      const auto numbers = file.values<double>(name);
      parameters.write(entry, {numbers.begin(), numbers.end()});
    }
  }

  template <class Numbers>
  void check(const std::string& name, const Numbers& ours) const {
    const auto theirs = file.values<double>(name);
    double scale = 1;
    for (const double number : theirs) scale = std::max(scale, std::abs(number));
    INFO(name);
    CHECK(largest_difference(ours, theirs) <= bound * scale);
  }

  double loss(LossOptions options, bool backward) {
    Tape<Device> tape(device, backward ? TapeMode::gradients() : TapeMode::inference());
    auto sum = model.loss(tape, Batch{source, target, labels}, options);
    if (backward) sum.backward();
    return sum.value();
  }

  void check_forward() {
    Tape<Device> tape(device);
    const Text from = upload(tape, source);
    const auto memory = model.encode(tape, from);
    check("encoder/output", rows_of(memory));
    check("decoder/output", rows_of(model.decode(tape, upload(tape, target), memory, from.rows)));
  }

  void check_losses() {
    check("loss", std::vector<double>{loss({.amount = 0.1}, false), loss({}, false),
                                      loss({.smoothing = Smoothing::others, .amount = 0.1}, false)});
  }

  void check_gradients() {
    loss({.amount = 0.1}, true);
    for (const auto& entry : parameters.entries()) check("gradient/" + entry.name, parameters.read_gradient(entry));
  }

  /// Ten steps at rate 1e-3. The keys' biases have gradient 0 but for rounding, which Adam enlarges to a step of full size:
  /// in single precision only the losses can agree.
  void check_steps(const std::string& prefix, AdamOptions options) {
    load();
    device.zero(parameters.gradients(), parameters.size());
    options.beta2 = 0.98;
    options.epsilon = 1e-9;
    Adam<Device> adam(parameters, options);
    std::vector<double> losses;
    for (int step = 0; step < 10; ++step) {
      losses.push_back(loss({.amount = 0.1}, true));
      adam.step(1e-3);
    }
    check(prefix + "/losses", losses);
    if constexpr (std::is_same_v<Real, double>)
      for (const auto& entry : parameters.entries()) check(prefix + "/" + entry.name, parameters.read(entry));
  }
};

template <template <class> class ModelOn, class Device>
void check_against_pytorch(const std::string& name) {
  Reference<ModelOn, Device> reference(name);
  reference.check_forward();
  reference.check_losses();
  reference.check_gradients();
  reference.check_steps("adam", {.clip_norm = 1});
  if (reference.file.find("adamw/losses") != nullptr)
    reference.check_steps("adamw", {.weight_decay = 0.01, .decay_vectors = true});
}

template <class Device>
using PostNormModel = Transformer<Device, shape>;
template <class Device>
using PreNormModel = Transformer<Device, shape, Full<>, PreNorm>;
template <class Device>
using LinformerModel = Transformer<Device, shape, Linformer<3, 12>>;

}  // namespace

TEST_CASE_TEMPLATE("pytorch: Transformer states and losses and gradients and ten Adam and AdamW steps match", Device,
                   Cpu<double>, Cpu<float>) {
  check_against_pytorch<PostNormModel, Device>("transformer");
}

TEST_CASE_TEMPLATE("pytorch: pre-norm Transformer states and losses and gradients and ten Adam steps match", Device,
                   Cpu<double>, Cpu<float>) {
  check_against_pytorch<PreNormModel, Device>("transformer_prenorm");
}

TEST_CASE_TEMPLATE("pytorch: Linformer states and losses and gradients and ten Adam steps match", Device, Cpu<double>,
                   Cpu<float>) {
  check_against_pytorch<LinformerModel, Device>("linformer");
}
