#pragma once
#include "attn/models/recurrent_models.hpp"
#include "attn/run/model_on.hpp"

namespace attn {

/// Registers the recurrent models (run/recurrent_names.hpp). attn::compiled does. run/models.hpp does not, to save
/// compile time.
template <class Device>
void add_recurrent_models(ModelRegistry& registry) {
  registry.add<ComparisonModel<Device>>("seq2seq");
  registry.add<ComparisonModel<Device, OnEncoder<Additive<64>>>>("additive-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<Additive<64>>>>("additive-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, Additive<64>>>>("additive-self");
  registry.add<ComparisonModel<Device, OnEncoder<Multiplicative>>>("multiplicative-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<Multiplicative>>>("multiplicative-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, Multiplicative>>>("multiplicative-self");
  registry.add<ComparisonModel<Device, OnEncoder<ScaledDot>>>("scaled-dot-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<ScaledDot>>>("scaled-dot-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, ScaledDot>>>("scaled-dot-self");
  // The additive network scores the keys. Its width is half of a state and a key together.
  registry.add<ComparisonModel<Device, OnEncoder<Additive<56>, Keys48Values16>>>("key-value-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<Additive<56>, Keys48Values16>>>("key-value-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, Additive<56>, Keys48Values16>>>("key-value-self");
  registry.add<CourseworkModel<Device>>("input-feeding");
  registry.add<PlainCourseworkModel<Device>>("input-feeding-plain");
  registry.add<DeeperCourseworkModel<Device>>("input-feeding-deeper");
  registry.add<LexicalCourseworkModel<Device>>("input-feeding-lexical");
}

}  // namespace attn
