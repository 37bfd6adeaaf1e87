#pragma once
#include <algorithm>

#include "attn/core/types.hpp"
#include "attn/train/train_options.hpp"

namespace attn {

/// How many steps a training has in all, which schedules and progress go by: of `together` batches each, of so many batches an epoch.
/// Where a training goes on with another number of batches a step, the steps that were made stay counted as they were.
inline Index plan_steps(TrainState& state, const TrainOptions& options, Index batches, Index together) {
  const Index per_epoch = (batches + together - 1) / together;
  if (state.together != 0 && state.together != together)
    state.surplus = state.step - (state.position.epoch * per_epoch + state.position.batch / together);
  state.together = together;
  const Index steps = std::max(state.step, options.epochs * per_epoch + state.surplus);
  return options.steps > 0 ? std::min(options.steps, steps) : steps;
}

}  // namespace attn
