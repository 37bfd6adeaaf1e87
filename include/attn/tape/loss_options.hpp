#pragma once
#include "attn/ops/cross_entropy.hpp"

namespace attn {

struct LossOptions {
  Smoothing smoothing = Smoothing::uniform;
  double amount = 0;      // of label smoothing
  double normalizer = 0;  // what the summed loss is divided by before gradients are taken; 0: the number of labels
};

}  // namespace attn
