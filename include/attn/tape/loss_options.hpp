#pragma once
#include "attn/ops/cross_entropy.hpp"

namespace attn {

struct LossOptions {
  Smoothing smoothing = Smoothing::uniform;
  double amount = 0;      // of label smoothing
  double normalizer = 0;  // divides the summed loss; 0: the number of labels
};

}  // namespace attn
