#pragma once
#include "attn/run/model_on.hpp"
#include "papers/recurrent_models.hpp"

namespace papers {

/// The papers' models for one device.
template <class Device>
void add_models_on(ModelRegistry& registry) {
  registry.add<PlainSeq2Seq<Device>>("seq2seq");
  registry.add<AdditiveOnEncoder<Device>>("additive-encoder");
  registry.add<AdditiveOnEncoderAndPast<Device>>("additive-both");
  registry.add<AdditiveOnSelfAttention<Device>>("additive-self");
  registry.add<MultiplicativeOnEncoder<Device>>("multiplicative-encoder");
  registry.add<MultiplicativeOnEncoderAndPast<Device>>("multiplicative-both");
  registry.add<MultiplicativeOnSelfAttention<Device>>("multiplicative-self");
  registry.add<ScaledDotOnEncoder<Device>>("scaled-dot-encoder");
  registry.add<ScaledDotOnEncoderAndPast<Device>>("scaled-dot-both");
  registry.add<ScaledDotOnSelfAttention<Device>>("scaled-dot-self");
  registry.add<KeyValueOnEncoder<Device>>("key-value-encoder");
  registry.add<KeyValueOnEncoderAndPast<Device>>("key-value-both");
  registry.add<KeyValueOnSelfAttention<Device>>("key-value-self");
  registry.add<CourseworkModel<Device>>("input-feeding");
  registry.add<DeeperCourseworkModel<Device>>("input-feeding-deeper");
  registry.add<LexicalCourseworkModel<Device>>("input-feeding-lexical");
}

void add_cpu_models(ModelRegistry& registry);
void add_cuda_models(ModelRegistry& registry);

}  // namespace papers
