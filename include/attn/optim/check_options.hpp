#pragma once
#include "attn/core/error.hpp"
#include "attn/ops/optimisers.hpp"

namespace attn {

inline void check_options(const AdamOptions& options) {
  const auto in = [](double beta) { return beta >= 0 && beta < 1; };
  require(in(options.beta1) && in(options.beta2), "Adam: beta1 ", options.beta1, " and beta2 ", options.beta2,
          " must be in [0, 1)");
  require(options.epsilon >= 0 && options.weight_decay >= 0 && options.clip_norm >= 0, "Adam: epsilon ", options.epsilon,
          ", weight_decay ", options.weight_decay, " and clip_norm ", options.clip_norm, " must be 0 or more");
}

inline void check_options(const SgdOptions& options) {
  require(options.momentum >= 0 && options.momentum < 1, "Sgd: a momentum of ", options.momentum, " is not in [0, 1)");
  require(options.weight_decay >= 0 && options.clip_norm >= 0, "Sgd: weight_decay ", options.weight_decay,
          " and clip_norm ", options.clip_norm, " must be 0 or more");
  require(!options.nesterov || options.momentum > 0, "Sgd: nesterov needs a momentum above 0");
}

}  // namespace attn
