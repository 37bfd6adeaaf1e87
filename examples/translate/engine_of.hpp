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
  template <class ModelOptions>
  EngineOf(std::unique_ptr<Device> device, const ModelFolder& folder, const ModelOptions& options)
      : folder_(folder), device_(std::move(device)), model_(options), parameters_(*device_, model_, 1) {
    attn::load_model(attn::SafetensorsFile(folder.weights), parameters_);
  }

  std::vector<std::vector<attn::Token>> translate(const attn::Sentences& source) override {
    const attn::Translator translator(*device_, model_, folder_.source, folder_.target,
                                      {.limit = folder_.limit, .never = folder_.never});
    return translator.decode(source);
  }

  std::vector<attn::AttentionMap> look(std::span<const attn::Token> source, std::span<const attn::Token> target) override {
    return attn::attention_maps(*device_, model_, attn::special_tokens_of(folder_.source, folder_.target), source, target);
  }

 private:
  const ModelFolder& folder_;
  std::unique_ptr<Device> device_;
  Model model_;
  attn::Parameters<Device> parameters_;
};
