// Recurrent models against PyTorch, with the numbers that tests/python/reference.py wrote.

#include <set>

#include "attn/checkpoint/safetensors.hpp"
#include "support/recurrent.hpp"

using namespace attn_test;

namespace {

constexpr RecurrentShape one{.embedding = 4, .width = 6, .encoder_layers = 1, .decoder_layers = 1};
constexpr RecurrentShape two{.embedding = 4, .width = 6, .encoder_layers = 2, .decoder_layers = 2};
constexpr RecurrentShape deep{.embedding = 4, .width = 6, .encoder_layers = 2, .decoder_layers = 3};

const SafetensorsFile& file() {
  static const SafetensorsFile all(std::filesystem::path(ATTN_TEST_FILES) / "seq2seq.safetensors");
  return all;
}
Sentences text(const char* tokens, const char* offsets) {
  Sentences all;
  all.offsets.clear();
  for (const Index token : file().values<Index>(tokens)) all.tokens.push_back(static_cast<Token>(token));
  for (const Index offset : file().values<Index>(offsets)) all.offsets.push_back(static_cast<std::int32_t>(offset));
  return all;
}

/// A model with a case's parameters, all of them and only those: its logits, its loss and its gradients.
template <class Model, class Device>
void compare(Device& device, const std::string& name) {
  CAPTURE(name);
  Model model({.source_vocabulary = 23, .target_vocabulary = 29});
  Parameters<Device> parameters(device, model, 1);
  std::set<std::string> ours, theirs;
  for (const auto& entry : parameters.entries()) ours.insert(entry.name);
  const std::string prefix = name + "/parameter/";
  for (const TensorView& tensor : file().tensors())
    if (tensor.name.starts_with(prefix)) theirs.insert(tensor.name.substr(prefix.size()));
  REQUIRE(ours == theirs);
  for (const auto& entry : parameters.entries()) {
    const auto numbers = file().values<double>(prefix + entry.name);
    parameters.write(entry, {numbers.begin(), numbers.end()});
  }
  const double bound = std::is_same_v<typename Device::Real, double> ? 1e-9 : 1e-5;
  const auto check = [&](const std::string& what, const auto& numbers) {
    INFO(what);
    CHECK(largest_difference(numbers, file().values<double>(name + "/" + what)) <= bound);
  };
  const Sentences source = text("source/tokens", "source/offsets"), target = text("target/tokens", "target/offsets");
  const Sentences labels = text("labels", "target/offsets");
  {
    Tape<Device> tape(device);
    const auto logits = model.output.logits(model.hidden(tape, upload(tape, source), upload(tape, target))).value;
    check("logits", std::vector<typename Device::Scalar>(logits.data, logits.data + logits.rows * logits.cols));
  }
  Tape<Device> tape(device, TapeMode::gradients());
  auto loss = model.loss(tape, Batch{source, target, labels});
  loss.backward();
  check("loss", std::vector<double>{loss.mean()});
  for (const auto& entry : parameters.entries()) check("gradient/" + entry.name, parameters.read_gradient(entry));
}

}  // namespace

TEST_CASE_TEMPLATE("pytorch: input feeding matches with more layers and with the lexical model and without attention",
                   Device, Cpu<double>, Cpu<float>) {
  Device device(2);
  compare<InputFeeding<Device, one>>(device, "feeding");
  compare<InputFeeding<Device, deep>>(device, "feeding_deep");
  compare<InputFeeding<Device, one, BothWays, Multiplicative, SharedKeyValue, Lexical>>(device, "feeding_lexical");
  compare<InputFeeding<Device, two, BothWays, NoAttention>>(device, "feeding_states");
}

TEST_CASE_TEMPLATE("pytorch: seq2seq matches without attention and with every kind of attention", Device, Cpu<double>,
                   Cpu<float>) {
  Device device(2);
  compare<Seq2Seq<Device, two, BothWaysProjected>>(device, "plain");
  compare<Seq2Seq<Device, two, BothWaysProjected, OnEncoderAndPast<Additive<5>>>>(device, "additive_past");
  compare<Seq2Seq<Device, one, BothWaysProjected, OnEncoder<ScaledDot>, Lexical>>(device, "scaled_lexical");
  compare<Seq2Seq<Device, one, BothWaysProjected, OnSelfAttention<2, Additive<5>, KeyValue<4, 3>>>>(device,
                                                                                                    "key_value_self");
}
