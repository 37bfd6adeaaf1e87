#pragma once
#include "attn/models/recurrent_models.hpp"
#include "cuda/training_on.hpp"

template <class Device>
std::unique_ptr<Training> recurrent_training(Device& device, Kind kind, std::uint64_t seed) {
  using namespace attn;
  const auto make = [&]<class Model>(std::type_identity<Model>) -> std::unique_ptr<Training> {
    return std::make_unique<TrainingOn<Device, Model>>(device, seed);
  };
  switch (kind) {
    case Kind::additive_on_past:
      return make(std::type_identity<ComparisonModel<Device, OnEncoderAndPast<Additive<64>>>>{});
    case Kind::multiplicative_on_self_attention:
      return make(std::type_identity<ComparisonModel<Device, OnSelfAttention<2, Multiplicative>>>{});
    case Kind::key_value:
      return make(std::type_identity<ComparisonModel<Device, OnEncoder<Additive<56>, Keys48Values16>>>{});
    case Kind::coursework:
      return make(std::type_identity<CourseworkModel<Device>>{});
    case Kind::deeper_coursework:
      return make(std::type_identity<DeeperCourseworkModel<Device>>{});
    case Kind::lexical_coursework:
      return make(std::type_identity<LexicalCourseworkModel<Device>>{});
    case Kind::plain_coursework:
      return make(std::type_identity<PlainCourseworkModel<Device>>{});
    default:
      attn::fail("no recurrent model is of kind ", static_cast<int>(kind));
  }
}
