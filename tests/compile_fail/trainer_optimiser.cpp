// refused: attn: Trainer: an optimiser has
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

using Trained = attn::Trainer<Model, Optimiser, attn::Constant>;
static_assert(sizeof(Trained) > 0);
