#pragma once
#include <string>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// What becomes of a step whose gradients are not finite: the training stops, with the weights as they were before it; or the
/// step is left out, and the training goes on.
enum class BadNumbers { stop, skip };

/// Steps that were not made because their gradients are not finite, since somebody last asked.
struct BadSteps {
  Index count = 0, first = 0;
};

/// Asks an optimiser; one that does not look has none.
template <class O>
BadSteps take_bad_steps(O& optimiser) {
  if constexpr (requires { optimiser.take_bad_steps(); })
    return optimiser.take_bad_steps();
  else
    return {};
}

/// Tells an optimiser what to do with such steps.
template <class O>
void set_bad_numbers(O& optimiser, BadNumbers what) {
  if constexpr (requires { optimiser.set_bad_numbers(what); })
    optimiser.set_bad_numbers(what);
  else
    require(what == BadNumbers::stop, "the optimiser ", std::string(O::name),
            " cannot leave out steps whose gradients are not finite; it has no set_bad_numbers(what)");
}

}  // namespace attn
