#pragma once
#include "cuda/training_on.hpp"
#include "papers/recurrent_models.hpp"

template <class Device>
std::unique_ptr<Training> recurrent_training(Device& device, Kind kind, std::uint64_t seed) {
  const auto make = [&]<class Model>(std::type_identity<Model>) -> std::unique_ptr<Training> {
    return std::make_unique<TrainingOn<Device, Model>>(device, seed);
  };
  switch (kind) {
    case Kind::additive_on_past:
      return make(std::type_identity<papers::AdditiveOnEncoderAndPast<Device>>{});
    case Kind::multiplicative_on_self_attention:
      return make(std::type_identity<papers::MultiplicativeOnSelfAttention<Device>>{});
    case Kind::key_value:
      return make(std::type_identity<papers::KeyValueOnEncoder<Device>>{});
    case Kind::coursework:
      return make(std::type_identity<papers::CourseworkModel<Device>>{});
    case Kind::deeper_coursework:
      return make(std::type_identity<papers::DeeperCourseworkModel<Device>>{});
    case Kind::lexical_coursework:
      return make(std::type_identity<papers::LexicalCourseworkModel<Device>>{});
    case Kind::plain_coursework:
      return make(std::type_identity<papers::PlainCourseworkModel<Device>>{});
    default:
      attn::fail("no recurrent model is of kind ", static_cast<int>(kind));
  }
}
