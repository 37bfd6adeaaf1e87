#pragma once
#include "attn/optim/schedules.hpp"

namespace attn {

enum class ScheduleKind {
  inverse_sqrt,   // scaled so that its peak is the rate
  warmup_cosine,  // from 1/1000 of the rate, down to 1/100
  step,           // halves the rate every `warmup` steps
  constant
};

/// A schedule that is selected at run time.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::inverse_sqrt;
  double rate = 0;   // peak
  Index warmup = 0;  // steps until the peak
};

inline bool warms_up(ScheduleKind kind) {
  return kind == ScheduleKind::inverse_sqrt || kind == ScheduleKind::warmup_cosine;
}

/// The schedule of a run of `steps` steps with a model of width `width`.
inline std::function<double(Index)> make_schedule(const ScheduleOptions& o, Index steps, Index width) {
  switch (o.kind) {
    case ScheduleKind::constant:
      return ConstantRate{o.rate};
    case ScheduleKind::step:
      return StepDecay{.rate = o.rate, .factor = 0.5, .every = o.warmup};
    case ScheduleKind::warmup_cosine:
      return WarmupCosine{.warmup = o.warmup, .from = o.rate / 1000, .peak = o.rate, .last = o.rate / 100, .total = steps};
    case ScheduleKind::inverse_sqrt:
      break;
  }
  const double scale = o.rate * std::sqrt(static_cast<double>(width * o.warmup));
  return InverseSquareRoot{.width = width, .warmup = o.warmup, .scale = scale};
}

}  // namespace attn
