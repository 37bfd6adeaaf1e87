// refused: attn: Trainer: a schedule is called with a step
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

using Trained = attn::Trainer<Model, attn::Adam<Device>, Schedule>;
static_assert(sizeof(Trained) > 0);
