// refused: attn: Trainer: a schedule needs  double operator
#include "attn/optim/adam.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;
using Model = attn::Transformer<Device, attn::small_shape>;

struct Schedule {
#ifndef ATTN_REFUSED
  double operator()(attn::Index step) const;
#endif
};

void train(attn::Network<Model>& network, attn::Adam<Device>& adam) { attn::Trainer trainer(network, adam, Schedule{}); }
