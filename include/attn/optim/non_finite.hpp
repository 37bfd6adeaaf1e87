#pragma once
#include "attn/core/types.hpp"

namespace attn {

/// What to do if the gradients of a step are not finite: stop the training before the step, or skip the step.
enum class NonFinite { stop, skip };

/// The number of skipped steps, and the first of them.
struct SkippedSteps {
  Index count = 0, first = 0;
};

}  // namespace attn
