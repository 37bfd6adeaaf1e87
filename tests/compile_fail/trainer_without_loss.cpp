// refused: static assertion failed: attn: Trainer: a model needs  Loss<Device> loss\(
#include "attn/optim/adam.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;

struct Model {
  using DeviceType = Device;
  attn::Parameter<Device> weight{2, 2};
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
#ifndef ATTN_REFUSED
  attn::Loss<Device> loss(attn::Tape<Device>& tape, const attn::Batch& batch, attn::LossOptions options = {}) const;
#endif
};

void train(attn::Network<Model>& network, attn::Adam<Device>& adam, attn::Batches& batches) {
  attn::Trainer trainer(network, adam, attn::ConstantRate{1e-3});
  trainer.run(batches);
}
