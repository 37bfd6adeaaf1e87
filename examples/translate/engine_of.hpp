#pragma once
#include <memory>
#include <utility>

#include "attn/decode/translator.hpp"
#include "attn/train/checkpoint.hpp"
#include "engine.hpp"

/// The engine of one type of model, on a device of its own.
template <class Device, class Model>
class EngineOf : public Engine {
 public:
  EngineOf(std::unique_ptr<Device> device, const ModelFolder& folder, const typename Model::Options& options)
      : folder_(folder), device_(std::move(device)), network_(*device_, options, attn::Inference{}) {
    attn::load_model(attn::SafetensorsFile(folder.weights), network_.parameters);
  }

  std::vector<std::vector<attn::Token>> translate(const attn::Sentences& source) override {
    const attn::Translator translator(*device_, *network_, folder_.source, folder_.target,
                                      {.limit = folder_.limit, .never = folder_.never});
    return translator.decode(source);
  }

  std::vector<attn::AttentionMap> look(std::span<const attn::Token> source, std::span<const attn::Token> target) override {
    return attn::attention_maps(*device_, *network_, attn::special_tokens_of(folder_.source, folder_.target), source,
                                target);
  }

 private:
  const ModelFolder& folder_;
  std::unique_ptr<Device> device_;
  attn::Network<Model> network_;
};
