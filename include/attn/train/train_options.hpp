#pragma once
#include "attn/data/batches.hpp"
#include "attn/optim/non_finite.hpp"
#include "attn/tape/loss_options.hpp"

namespace attn {

/// The criterion for the best model and for patience.
enum class BestBy { loss, score };

struct TrainOptions {
  Index epochs = 10;
  Index steps = 0;       // maximum; 0: set by the epochs
  Index accumulate = 1;  // batches per step (gradient accumulation)
  LossOptions loss = {};
  BatchUnit mean = BatchUnit::tokens;  // the unit of a step's mean loss: target tokens or sentences
  std::uint64_t seed = 1;              // for dropout
  Index prefetch = 4;                  // batches prepared ahead by a background thread; 0: no thread
  Index report_every = 10;             // steps
  bool gradient_norms = false;         // report the gradient norm of each layer; costs a pass over the gradients per step
  Index validate_every = 0;            // steps; 0: at the end of each epoch
  bool validate_first = false;         // also before the first step: the initial weights are the first to beat
  std::function<double()> score = {};  // called at each validation, such as BLEU of translations; higher is better
  BestBy best_by = BestBy::loss;
  /// Handles non-finite gradients if the optimizer computes their norm, i.e. if it clips or skips.
  NonFinite non_finite = NonFinite::stop;
  Index patience = 0;  // validations in a row without improvement before stopping; 0: never stop
  std::function<bool()> stop = [] { return false; };  // called after every step
};

/// Rejects invalid options.
inline void check_options(const TrainOptions& options) {
  require(options.accumulate >= 1, "Trainer: accumulate is ", options.accumulate, ", but must be at least 1");
  require(options.epochs >= 0 && options.steps >= 0 && options.patience >= 0 && options.validate_every >= 0,
          "Trainer: epochs ", options.epochs, ", steps ", options.steps, ", patience ", options.patience,
          " and validate_every ", options.validate_every, " must not be negative");
  require(options.best_by == BestBy::loss || options.score, "Trainer: BestBy::score needs TrainOptions::score");
}

/// The position of a training. Together with the parameters and the optimizer's state, it allows an exact resume.
struct TrainState {
  Index step = 0;
  Batches::Position position;                             // of the next batch
  double best = std::numeric_limits<double>::infinity();  // lowest validation loss or negated score, see BestBy
  Index stale = 0;                                        // validations since the best
  Index validated = 0;                                    // step of the last validation
  Index batches_per_step = 0;                             // over all ranks; 0 if unknown
  Index surplus = 0;  // completed steps beyond those that `batches_per_step` would give, after the ranks changed
};

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
