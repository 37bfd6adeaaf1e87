#include "attn/run/model_registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "support/errors.hpp"

using namespace attn;

namespace {

ModelSpec of(const std::string& name) {
  return {.name = name, .source_vocabulary = 16, .target_vocabulary = 16, .share_embeddings = true, .tie_output = true};
}

}  // namespace

TEST_CASE("model registry: presets are names of an architecture with a shape, no two the same") {
  for (const char* name : {"transformer-small", "transformer-medium-pre", "transformer-base", "transformer-big-pre",
                           "linformer128-base-pre", "linformer48-medium", "marian-3-2-320-5-1280-relu"})
    CHECK(models().contains(name));
  for (const char* name : {"transformer-huge", "transformer-small-post", "linformer-small", "linformer0-small",
                           "marian-3-2-swish", "marian-6-6-512-8-2048-tanh", ""})
    CHECK_FALSE(models().contains(name));
  std::set<std::string> shapes;
  for (const std::string architecture : {"transformer", "linformer32", "linformer64", "linformer48"})
    for (const std::string norm : {"", "-pre"}) {
      const std::string name = architecture + "-small" + norm;
      const auto model = models().make(of(name), {.device = "cpu", .threads = 1});
      CHECK(model->spec().name == name);
      CHECK(model->device() == "1 thread");
      CHECK(model->shape().at("norm") == (norm.empty() ? "post" : "pre"));
      shapes.insert(model->shape().dump());
    }
  CHECK(shapes.size() == 8);
}

TEST_CASE("model registry: an architecture takes any shape") {
  ModelSpec spec = of("transformer-pre");
  spec.shape = TransformerShape{.encoder_layers = 3, .decoder_layers = 1, .width = 24, .heads = 3, .inner = 40};
  const auto model = models().make(spec, {.device = "cpu", .threads = 1});
  CHECK(model->shape().at("width") == 24);
  CHECK(model->shape().at("encoder_layers") == 3);
  CHECK(model->shape().at("inner") == 40);
  CHECK(nlohmann::json(spec).get<ModelSpec>().shape == spec.shape);  // as model.json has it
  CHECK_FALSE(nlohmann::json(of("transformer-small")).contains("shape"));
  spec.shape->heads = 5;
  CHECK(contains(error_of([&] { models().make(spec, {.device = "cpu", .threads = 1}); }),
                 "a width of 24 is not a multiple of 5 heads"));
}

TEST_CASE("model registry: what it cannot make it says") {
  const auto said = [](const ModelSpec& spec, const DeviceOptions& device) {
    return error_of([&] { models().make(spec, device); });
  };
  CHECK(contains(said(of("transformer-huge"), {.device = "cpu"}),
                 "knows no model of the name 'transformer-huge'; it knows "));
  CHECK(contains(said(of("transformer-small"), {.device = "tpu"}), "there is no device 'tpu': use auto, cpu or cuda"));
  CHECK(contains(said(of("transformer-small"), {.device = "cpu", .precision = "fp8"}), "there is no precision 'fp8'"));
  CHECK(contains(said(of("transformer-small"), {.device = "cpu", .tf32 = true}), "TF32 is for"));
  CHECK(contains(said(of("transformer-small"), {.device = "cuda"}), "built without CUDA"));
  CHECK(contains(error_of([] { models().make(of("transformer-small"), {.device = "cpu", .precision = "int8"}, 1); }),
                 "int8 weights are for translating; train in float or bf16"));
}

TEST_CASE("model registry: a model to translate with may have int8 weights, and a worker a core") {
  const auto model = models().make(of("transformer-small"), {.device = "cpu", .threads = 2, .precision = "int8"});
  CHECK(model->device() == "2 threads, int8 weights");
  CHECK(model->workers() == 2);
}
