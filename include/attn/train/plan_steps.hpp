#pragma once
#include <algorithm>

#include "attn/core/types.hpp"
#include "attn/train/train_options.hpp"

namespace attn {

/// The total number of training steps, for schedules and progress: `batches` per epoch, `batches_per_step` over all
/// ranks. If a resumed training changes `batches_per_step`, completed steps keep their count.
inline Index plan_steps(TrainState& state, const TrainOptions& options, Index batches, Index batches_per_step) {
  const Index per_epoch = (batches + batches_per_step - 1) / batches_per_step;
  if (state.batches_per_step != 0 && state.batches_per_step != batches_per_step)
    state.surplus = state.step - (state.position.epoch * per_epoch + state.position.batch / batches_per_step);
  state.batches_per_step = batches_per_step;
  const Index steps = std::max(state.step, options.epochs * per_epoch + state.surplus);
  return options.steps > 0 ? std::min(options.steps, steps) : steps;
}

}  // namespace attn
