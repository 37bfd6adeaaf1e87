// refused: attn: Trainer: an optimiser needs
#include "attn/optim/adam.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;
using Model = attn::Transformer<Device, attn::small_shape>;

struct Optimiser {
  static constexpr const char* name = "mine";
  void step(double);
#ifndef ATTN_REFUSED
  attn::Index steps() const;
#endif
  void set_steps(attn::Index);
  void for_each_state(const auto&) {}
};

void train(attn::Network<Model>& network, Optimiser& optimiser) {
  attn::Trainer trainer(network, optimiser, attn::ConstantRate{1e-3});
}
