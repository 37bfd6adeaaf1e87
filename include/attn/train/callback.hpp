#pragma once
#include <cmath>

#include "attn/core/types.hpp"

namespace attn {

/// Some training steps, since the report before.
struct StepReport {
  Index step = 0, epoch = 0;  // steps made so far; epochs count from 0
  double loss = 0;            // mean negative log-likelihood of a target token
  double rate = 0;            // of learning
  Index tokens = 0;           // source and target
  double tokens_per_second = 0;
};

/// The model on text it does not learn from.
struct ValidationReport {
  Index step = 0, epoch = 0;
  double loss = 0;    // mean negative log-likelihood of a target token
  bool best = false;  // of all so far
  double perplexity() const { return std::exp(loss); }
};

/// What wants to know how a training goes: the terminal, a log, a checkpoint, a picture.
struct Callback {
  virtual ~Callback() = default;
  virtual void on_step(const StepReport&) {}
  virtual void on_validation(const ValidationReport&) {}
  virtual void on_end() {}
};

}  // namespace attn
