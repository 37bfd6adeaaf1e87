#pragma once
#include <numbers>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// A learning rate for every step: anything that can be called with one, a lambda too. Steps count from 1: the first update
/// uses schedule(1). It is asked again for reports, so the same step must give the same rate.
template <class S>
concept Schedule = requires(const S schedule, Index step) {
  { schedule(step) } -> std::convertible_to<double>;
};

struct ConstantRate {
  double rate = 3e-4;

  double operator()(Index) const { return rate; }
};

/// Linear from `from` at step 1 to `peak` after `warmup` steps (at step warmup + 1), then half a cosine down to `last` at
/// step `total`, where it stays. PyTorch equivalent: SequentialLR of LinearLR and CosineAnnealingLR. The defaults are those
/// of the Linformer translation experiments; `total` is the number of steps of the run.
struct WarmupCosine {
  Index warmup = 4000;
  double from = 1e-7, peak = 1e-4, last = 1e-6;
  Index total = 100'000;

  double operator()(Index step) const {
    const auto taken = static_cast<double>(step - 1), warm = static_cast<double>(warmup);
    if (step <= warmup) return from + (peak - from) * taken / warm;
    if (step >= total) return last;
    const double progress = (taken - warm) / (static_cast<double>(total - 1) - warm);
    return last + (peak - last) * (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
};

/// scale * width^-1/2 * min(step^-1/2, step * warmup^-3/2): linear to its peak at step `warmup`, then falling with the root
/// of the step (Vaswani et al., 2017). The peak is scale / sqrt(width * warmup).
struct InverseSquareRoot {
  Index width = 512, warmup = 4000;
  double scale = 1;

  double operator()(Index step) const {
    const auto now = static_cast<double>(step);
    const double falling = 1 / std::sqrt(now), rising = now * std::pow(static_cast<double>(warmup), -1.5);
    return scale / std::sqrt(static_cast<double>(width)) * std::min(falling, rising);  // no warm-up: rising is infinite
  }
};

/// `rate` for the first `every` steps, then multiplied by `factor` once every `every` steps.
struct StepDecay {
  double rate = 1e-3, factor = 0.5;
  Index every = 10'000;

  double operator()(Index step) const {
    require(every > 0, "StepDecay: cannot decay every ", every, " steps; give at least 1");
    return rate * std::pow(factor, static_cast<double>((step - 1) / every));
  }
};

static_assert(Schedule<ConstantRate> && Schedule<WarmupCosine> && Schedule<InverseSquareRoot> && Schedule<StepDecay>);

}  // namespace attn
