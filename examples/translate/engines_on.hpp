#pragma once
#include "engine_of.hpp"
#include "named_models.hpp"

// The engine of the model that a folder names, for any device: a .cpp and a .cu call the same function.

template <class Device>
std::unique_ptr<Engine> transformer_on(std::unique_ptr<Device> device, const ModelFolder& folder) {
  return with_transformer<Device>(folder.model, folder.size, [&]<class Model>() -> std::unique_ptr<Engine> {
    return std::make_unique<EngineOf<Device, Model>>(
        std::move(device), folder,
        attn::TransformerOptions{.source_vocabulary = folder.source.padded_size(),
                                 .target_vocabulary = folder.target.padded_size(),
                                 .share_embeddings = folder.shared,
                                 .tie_output = folder.shared});
  });
}

template <class Device>
std::unique_ptr<Engine> recurrent_on(std::unique_ptr<Device> device, const ModelFolder& folder) {
  return with_recurrent<Device>(folder.model, [&]<class Model>() -> std::unique_ptr<Engine> {
    return std::make_unique<EngineOf<Device, Model>>(
        std::move(device), folder,
        attn::RecurrentOptions{.source_vocabulary = folder.source.padded_size(),
                               .target_vocabulary = folder.target.padded_size()});
  });
}
