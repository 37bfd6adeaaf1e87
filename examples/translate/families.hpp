#pragma once
#include "attn/seq2seq.hpp"
#include "attn/transformer.hpp"
#include "engine_of.hpp"

// The models of each family, for any device: a .cpp and a .cu call the same function.

template <class Model, class Device>
std::unique_ptr<Engine> recurrent(std::unique_ptr<Device> device, const ModelFolder& folder) {
  return std::make_unique<EngineOf<Device, Model>>(
      std::move(device), folder,
      attn::RecurrentOptions{.source_vocabulary = folder.source.padded_size(),
                             .target_vocabulary = folder.target.padded_size()});
}

/// The three places where a score looks.
template <template <class> class OnEncoder, template <class> class OnBoth, template <class> class OnSelf, class Device>
std::unique_ptr<Engine> looking(std::unique_ptr<Device> device, const ModelFolder& folder) {
  if (folder.variant == "encoder") return recurrent<OnEncoder<Device>>(std::move(device), folder);
  if (folder.variant == "both") return recurrent<OnBoth<Device>>(std::move(device), folder);
  attn::require(folder.variant == "self", folder.weights.string(), ": there is no model ", folder.family, "-",
                folder.variant);
  return recurrent<OnSelf<Device>>(std::move(device), folder);
}

template <class Attention, class Device>
std::unique_ptr<Engine> transformer(std::unique_ptr<Device> device, const ModelFolder& folder) {
  using namespace attn;
  const TransformerOptions options{.source_vocabulary = folder.source.padded_size(),
                                   .target_vocabulary = folder.target.padded_size(),
                                   .share_embeddings = folder.shared,
                                   .tie_output = folder.shared};
  if (folder.variant == "base")
    return std::make_unique<EngineOf<Device, Transformer<Device, base_shape, Attention>>>(std::move(device), folder,
                                                                                          options);
  return std::make_unique<EngineOf<Device, Transformer<Device, small_shape, Attention>>>(std::move(device), folder,
                                                                                         options);
}

/// The recurrent models that are alone of their kind.
template <class Device>
std::unique_ptr<Engine> others(std::unique_ptr<Device> device, const ModelFolder& folder) {
  if (folder.family == "seq2seq") return recurrent<attn::PlainSeq2Seq<Device>>(std::move(device), folder);
  if (folder.family == "lexical") return recurrent<attn::LexicalCourseworkModel<Device>>(std::move(device), folder);
  if (folder.variant == "deeper") return recurrent<attn::DeeperCourseworkModel<Device>>(std::move(device), folder);
  return recurrent<attn::CourseworkModel<Device>>(std::move(device), folder);
}
