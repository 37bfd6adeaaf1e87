#pragma once
#include <functional>
#include <limits>

#include "attn/data/batches.hpp"
#include "attn/optim/bad_numbers.hpp"
#include "attn/tape/loss_options.hpp"

namespace attn {

/// By what the best model is known, and patience counted.
enum class BestBy { loss, score };

struct TrainOptions {
  Index epochs = 10;
  Index steps = 0;       // the most there may be; 0: as many as the epochs have
  Index accumulate = 1;  // batches whose gradients make one step
  LossOptions loss = {};
  BatchUnit mean = BatchUnit::tokens;  // of what a step's loss is the mean: of target tokens, or of sentences
  std::uint64_t seed = 1;              // of dropout
  Index prefetch = 4;                  // batches that a thread of its own makes in advance; 0: no thread
  Index report_every = 10;             // steps
  Index validate_every = 0;            // steps; 0: at the end of each epoch
  bool validate_first = false;         // before the first step too: the weights it begins with are the first to beat
  std::function<double()> score = {};  // computed at each validation, such as BLEU of translations; higher is better
  BestBy best_by = BestBy::loss;
  /// What becomes of gradients that are not finite, where the optimiser computes their norm: it does if it clips or skips.
  BadNumbers bad_numbers = BadNumbers::stop;
  Index patience = 0;  // validations in a row without improvement after which to stop; 0: never
  std::function<bool()> stop = [] { return false; };  // asked after every step
};

/// Refuses options that make no sense.
inline void check(const TrainOptions& options) {
  require(options.accumulate >= 1, "Trainer: a step cannot have ", options.accumulate, " batches; accumulate 1 at least");
  require(options.epochs >= 0 && options.steps >= 0 && options.patience >= 0 && options.validate_every >= 0,
          "Trainer: epochs ", options.epochs, ", steps ", options.steps, ", patience ", options.patience,
          " and validate_every ", options.validate_every, " must not be negative");
  require(options.best_by == BestBy::loss || options.score,
          "Trainer: the best model is to be known by its score, but TrainOptions::score is empty");
}

/// Where a training stands: with the parameters and the optimiser's state, all it takes to go on as if it had never
/// stopped.
struct TrainState {
  Index step = 0;
  Batches::Position position;                             // of the next batch
  double best = std::numeric_limits<double>::infinity();  // validation loss, or minus the score, whichever decides
  Index stale = 0;                                        // validations since the best
  Index validated = 0;                                    // the step of the last validation
  Index together = 0;  // how many batches its steps have, of all ranks; 0 where that is not known
  Index surplus = 0;   // how many steps more were made than with so many batches each: other ranks made them
};

}  // namespace attn
