#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "attn/data/batches.hpp"
#include "attn/ops/adam.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/train/train_options.hpp"

namespace attn {

class AnyModel;

/// A training, for a model of any type: the texts, the settings, and the folder that gets the weights.
struct TrainingRun {
  std::filesystem::path folder;
  CorpusView training, validation;
  SpecialTokens special_tokens;
  BatchOptions batches = {}, validation_batches = {};
  AdamOptions adam = {};
  TrainOptions train = {};
  /// The learning rate of each step, of a run of so many steps and a model of this width.
  std::function<std::function<double(Index step)>(Index steps, Index width)> schedule;
  double average_decay = 0;  // of the exponential moving average of the weights, which is then the model; 0: none
  Index average_best = 0;    // at the end, the mean of so many best models is the model where it validates better
  /// Computed of the model at each validation, such as BLEU of its translations; higher is better.
  std::function<double(AnyModel&)> score = {};
  std::string title = {};         // of the learning curve
  Metadata metadata = {};         // of the weights' files
  bool resume = false;            // from the folder's training.safetensors
  Communicator* ranks = nullptr;  // processes that train together, if there are several: each of them calls train
  DataParallelOptions parallel = {};
  std::function<void(const std::string&)> say = {};            // what it says before it begins
  std::function<void(const std::string& line)> log_line = {};  // hears every line of the log
  std::function<void()> begin = {};  // called when all is planned: from here on a stop can be gone on from
  std::function<std::unique_ptr<Callback>(Index step, Index steps)> progress = {};  // shows how it goes, to its end
};

/// How a training ended.
struct TrainingOutcome {
  TrainState state;
  Index steps = 0;     // as many as were planned
  double seconds = 0;  // of training and validation
};

}  // namespace attn
