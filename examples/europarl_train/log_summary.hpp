#pragma once
#include <filesystem>

#include "attn/train/learning_curve.hpp"

/// What a run's log.jsonl says, of all the parts in which it was run.
struct LogSummary {
  attn::Series training, validations;
  attn::Index steps = 0;
  double seconds = 0;         // of training alone
  double best = 0, last = 0;  // validation loss
  double training_loss = 0;   // mean of the steps between the last two validations
};

LogSummary read_log(const std::filesystem::path& path);
