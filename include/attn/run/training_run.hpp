#pragma once
#include "attn/checkpoint/tensor_view.hpp"
#include "attn/data/batches.hpp"
#include "attn/ops/optimisers.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/train_options.hpp"

namespace attn {

class AnyModel;

/// A training of a model of any type: texts, settings and the output folder.
struct TrainingRun {
  std::filesystem::path folder;
  CorpusView training, validation;
  SpecialTokens special_tokens;
  BatchOptions batches = {}, validation_batches = {};
  AdamOptions adam = {};
  TrainOptions train = {};
  /// Returns the learning rate schedule for a run of `steps` steps and a model of width `width`.
  std::function<std::function<double(Index step)>(Index steps, Index width)> schedule;
  double average_decay = 0;  // decay of the exponential moving average of the weights, which becomes the model; 0: none
  Index average_best = 0;    // number of best models to average at the end; the mean is kept if it validates better
  /// Called with the model at each validation, such as BLEU of its translations; higher is better.
  std::function<double(AnyModel&)> score = {};
  std::string title = {};         // for the learning curve
  Metadata metadata = {};         // for the weight files
  bool resume = false;            // from the folder's training.safetensors
  Communicator* ranks = nullptr;  // processes that train together; each of them calls train
  DataParallelOptions parallel = {};
  std::function<void(const std::string&)> print = {};          // prints a line above the progress
  std::function<void(const std::string& line)> log_line = {};  // called with every line of the log
  std::function<void()> begin = {};                            // called after planning, once a stop leaves a resumable run
  std::function<std::unique_ptr<Callback>(Index step, Index steps)> progress = {};  // displays the progress
};

/// The result of a training.
struct TrainingOutcome {
  TrainState state;
  Index steps = 0;     // planned steps
  double seconds = 0;  // training and validation, earlier runs included; known to rank 0 only
};

}  // namespace attn
