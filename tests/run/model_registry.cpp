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

TEST_CASE("model registry: presets are unique names of an architecture and a shape") {
  for (const char* name : {"transformer-small", "transformer-medium-pre", "transformer-base", "transformer-big-pre",
                           "linformer128-base-pre", "linformer48-medium"})
    CHECK(models().contains(name));
  for (const char* name :
       {"transformer-huge", "transformer-small-post", "linformer-small", "linformer0-small", "transformer-",
        "transformer-pre-small", "lstm-small", "-small", "marian-3-2-320-5-1280-relu", ""})
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

TEST_CASE("model registry: an architecture accepts any shape") {
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

TEST_CASE("model spec: JSON keeps every size of the shape and a missing rope_base means 10000") {
  ModelSpec spec{.name = "mine", .source_vocabulary = 5, .target_vocabulary = 6};
  spec.shape = TransformerShape{1, 2, 12, 4, 5, 6, 7, 2, 500000};
  nlohmann::json json = spec;
  CHECK(json.get<ModelSpec>().shape == spec.shape);
  json["shape"].erase("rope_base");
  CHECK(json.get<ModelSpec>().shape->rope_base == 10000);
  json["shape"].erase("key_value_heads");
  CHECK_THROWS_AS(json.get<ModelSpec>(), nlohmann::json::exception);
}

TEST_CASE("model registry: reports models that it cannot create") {
  const auto said = [](const ModelSpec& spec, const DeviceOptions& device) {
    return error_of([&] { models().make(spec, device); });
  };
  CHECK(contains(said(of("transformer-huge"), {.device = "cpu"}), "unknown model 'transformer-huge'; this program knows "));
  CHECK(contains(said(of("mine"), {.device = "cpu"}),
                 "Register it before you open the folder: models().add<Model>(\"mine\")"));
  CHECK(contains(said(of("transformer-small"), {.device = "tpu"}), "unknown device 'tpu'. Use auto, cpu or cuda"));
  CHECK(contains(said(of("transformer-small"), {.device = "cpu", .precision = "fp8"}), "unknown precision 'fp8'"));
  CHECK(contains(said(of("transformer-small"), {.device = "cpu", .tf32 = true}), "TF32 needs"));
  CHECK(contains(said(of("transformer-small"), {.device = "cuda"}), "built without CUDA"));
  CHECK(contains(error_of([] { models().make(of("transformer-small"), {.device = "cpu", .precision = "int8"}, 1); }),
                 "cannot train with int8 weights. Train in float or bf16"));
}

TEST_CASE("model registry: inference models may use int8 weights and one core per worker") {
  const auto model = models().make(of("transformer-small"), {.device = "cpu", .threads = 2, .precision = "int8"});
  CHECK(model->device() == "2 threads, int8 weights");
  CHECK(model->engine().workers(4) == 2);
  CHECK(model->engine().workers(3) == 1);  // both threads share each batch: one would wait for the other's last
}

#ifdef ATTN_COMPILED
TEST_CASE("model registry: attn::compiled has recurrent models and other programs name the remedy") {
  for (const char* name : recurrent_model_names) CHECK(models().contains(name));
  const ModelSpec spec{.name = "input-feeding-plain", .source_vocabulary = 16, .target_vocabulary = 16};
  const auto model = models().make(spec, {.device = "cpu", .threads = 1}, 1);
  CHECK(model->shape().at("width") == 128);
  ModelSpec attends = spec;
  attends.name = "input-feeding";
  CHECK(model->parameters() < models().make(attends, {.device = "cpu", .threads = 1}, 1)->parameters());
  CHECK(contains(error_of([&] { ModelRegistry().make(spec, {.device = "cpu"}); }),
                 "Link attn::compiled, which has the recurrent models."));
}
#endif
