#include "attn/checkpoint/marian.hpp"

#include <doctest/doctest.h>

#include <map>

#include "attn/core/network.hpp"
#include "attn/cpu.hpp"
#include "attn/models/marian.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 8, .heads = 2, .inner = 16};

/// A Marian whose tables are one, and the tensors of its file: all numbers are 0.5.
struct SmallMarian {
  Cpu<float> device{1};
  Network<Marian<Cpu<float>, shape>> network{device, {7, 7, {}, true, true}, 3};
  TemporaryFolder folder;
  std::map<std::string, std::vector<Index>> tensors;

  SmallMarian() {
    save_safetensors(folder / "none", {});
    const SafetensorsFile none(folder / "none");
    for (const auto& entry : network.parameters.entries()) {
      const auto parts = marian_parts(none, entry.name);
      for (const StoredPart& part : parts)
        tensors[part.name] = checkpoint::shape_of(checkpoint::Wanted{"", entry.rows / std::ssize(parts), entry.cols, {}});
    }
  }

  /// What loading says.
  std::string load() {
    const std::vector<float> numbers(1000, 0.5f);
    std::vector<TensorView> views;
    for (const auto& [name, extents] : tensors) views.push_back(TensorView{name, DType::f32, extents, numbers.data()});
    save_safetensors(folder / "x", views);
    return error_of([&] { load_marian(SafetensorsFile(folder / "x"), network); });
  }
};

}  // namespace

TEST_CASE("load_marian: ignores only positions and table copies among extra tensors") {
  SmallMarian made;
  CHECK(made.load().empty());
  CHECK(made.network.parameters.read(made.network.parameters.find("encoder.layers.0.attention.in.weight"))[191] == 0.5f);
  made.tensors["model.encoder.embed_positions.weight"] = made.tensors["model.decoder.embed_positions.weight"] = {20, 8};
  for (const char* copy : {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
    made.tensors[copy] = {7, 8};
  CHECK(made.load().empty());
  for (const char* other : {"model.encoder.layer_norm.weight", "model.encoder.layers.1.fc1.bias", "lm_head.bias"}) {
    made.tensors[other] = {8};
    CHECK(contains(made.load(), "the model has no parameter '" + std::string(other) + "'"));
    made.tensors.erase(other);
  }
}

TEST_CASE("load_marian: an error names the query or key or value tensor with the wrong shape") {
  const std::string queries = "model.decoder.layers.0.self_attn.q_proj.", needed = "] is needed for 'decoder.layers.0.";
  for (const Index rows : {4, 16}) {
    SmallMarian made;
    made.tensors[queries + "weight"] = {rows, 8};
    CHECK(contains(made.load(), "tensor '" + queries + "weight' has the shape [" + std::to_string(rows) + ",8], but [8,8" +
                                    needed + "self_attention.in.weight'"));
  }
  SmallMarian made;
  made.tensors[queries + "bias"] = {4};
  CHECK(contains(made.load(), "tensor '" + queries + "bias' has the shape [4], but [8" + needed));
  made.tensors["model.decoder.layers.0.self_attn.v_proj.bias"] = {12};  // together they are as many
  CHECK(contains(made.load(), "tensor '" + queries + "bias' has the shape [4], but [8" + needed));
}
