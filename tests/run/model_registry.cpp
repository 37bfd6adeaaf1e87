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

TEST_CASE("model registry: the library's models by their names, no two of one size and shape") {
  const std::vector<std::string> names = models().names();
  for (const char* name : {"transformer-small", "transformer-medium-pre", "transformer-base", "linformer128-base-pre"})
    CHECK(models().contains(name));
  CHECK_FALSE(models().contains("transformer"));
  std::set<std::string> shapes;
  for (const std::string& name : names) {
    if (!name.ends_with("small") && !name.ends_with("small-pre")) continue;  // the others are as many numbers more
    const auto model = models().make(of(name), {.device = "cpu", .threads = 1});
    CHECK(model->spec().name == name);
    CHECK(model->device() == "1 thread");
    CHECK(model->shape().at("norm") == (name.ends_with("-pre") ? "pre" : "post"));
    shapes.insert(model->shape().dump());
  }
  CHECK(shapes.size() == 8);
}

TEST_CASE("model registry: what it cannot make it says") {
  const auto said = [](const ModelSpec& spec, const DeviceOptions& device) {
    return error_of([&] { models().make(spec, device); });
  };
  CHECK(contains(said(of("transformer"), {.device = "cpu"}), "knows no model of the name 'transformer'; it knows "));
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
