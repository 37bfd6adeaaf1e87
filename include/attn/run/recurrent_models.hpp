#pragma once
#include "attn/models/recurrent_models.hpp"
#include "attn/run/model_on.hpp"

namespace attn {

/// Registers the recurrent models (models/recurrent_shape.hpp), with sizes given at run time. attn::compiled does.
/// run/models.hpp does not, to save compile time.
template <class Device>
void add_recurrent_models(ModelRegistry& registry) {
  constexpr RecurrentShape any = dynamic_recurrent_shape;
  registry.add<ComparisonModel<Device, NoAttention, any>>("seq2seq");
  registry.add<ComparisonModel<Device, OnEncoder<Additive<>>, any>>("additive-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<Additive<>>, any>>("additive-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, Additive<>>, any>>("additive-self");
  registry.add<ComparisonModel<Device, OnEncoder<Multiplicative>, any>>("multiplicative-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<Multiplicative>, any>>("multiplicative-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, Multiplicative>, any>>("multiplicative-self");
  registry.add<ComparisonModel<Device, OnEncoder<ScaledDot>, any>>("scaled-dot-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<ScaledDot>, any>>("scaled-dot-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, ScaledDot>, any>>("scaled-dot-self");
  // The additive network scores the keys. In the paper its width is half of a state and a key together.
  registry.add<ComparisonModel<Device, OnEncoder<Additive<56>, Keys48Values16>, any>>("key-value-encoder");
  registry.add<ComparisonModel<Device, OnEncoderAndPast<Additive<56>, Keys48Values16>, any>>("key-value-both");
  registry.add<ComparisonModel<Device, OnSelfAttention<2, Additive<56>, Keys48Values16>, any>>("key-value-self");
  for (const char* name : {"input-feeding", "input-feeding-deeper"}) registry.add<CourseworkModel<Device, any>>(name);
  registry.add<PlainCourseworkModel<Device, any>>("input-feeding-plain");
  registry.add<LexicalCourseworkModel<Device, any>>("input-feeding-lexical");
}

}  // namespace attn
