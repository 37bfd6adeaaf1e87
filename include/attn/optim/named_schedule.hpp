#pragma once
#include <cmath>
#include <functional>
#include <string_view>

#include "attn/optim/schedules.hpp"

namespace attn {

/// What a schedule is made from where a program learns its name at run time.
struct ScheduleOptions {
  double rate;      // at its peak
  Index warmup;     // steps until the peak; of "step", steps between halvings
  Index steps;      // of the run
  Index width = 1;  // of the model
};

/// The schedule of a name: "constant", "step", "warmup-cosine" (from a thousandth of the rate, down to a hundredth), or
/// "inverse-sqrt", scaled so that its peak is the rate.
inline std::function<double(Index)> named_schedule(std::string_view name, const ScheduleOptions& o) {
  if (name == "constant") return Constant{o.rate};
  if (name == "step") return StepDecay{.rate = o.rate, .factor = 0.5, .every = o.warmup};
  if (name == "warmup-cosine")
    return WarmupCosine{.warmup = o.warmup, .from = o.rate / 1000, .peak = o.rate, .last = o.rate / 100, .total = o.steps};
  require(name == "inverse-sqrt", "there is no schedule '", name, "': use constant, step, warmup-cosine or inverse-sqrt");
  const double scale = o.rate * std::sqrt(static_cast<double>(o.width * o.warmup));
  return InverseSquareRoot{.width = o.width, .warmup = o.warmup, .scale = scale};
}

}  // namespace attn
