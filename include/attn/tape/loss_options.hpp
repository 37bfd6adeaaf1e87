#pragma once
#include "attn/ops/cross_entropy.hpp"

namespace attn {

struct LossOptions {
  Smoothing smoothing = Smoothing::uniform;
  double amount = 0;      // of label smoothing
  double normalizer = 0;  // divides the summed loss; 0: the number of labels

  /// The divisor of the loss of this number of labels. Throws an Error if the options are not valid.
  double divisor(Index labels) const {
    require(amount >= 0 && amount <= 1, "cross_entropy: label smoothing of ", amount, " is not in [0, 1]");
    return normalizer > 0 ? normalizer : static_cast<double>(labels > 0 ? labels : 1);
  }
};

}  // namespace attn
