#pragma once
#include "attn/core/types.hpp"

namespace attn {

/// A visitor of an optimiser's state: visit(name, numbers) for each flat buffer on the device.
struct StateVisit {
  void operator()(const std::string&, const auto&) const {}
};

/// Updates parameters with their gradients. Checkpoints save the states under the optimiser's name: "adam.m".
/// AnyOptimiser lists the functions that an optimiser may have in addition.
template <class O>
concept Optimiser = requires(O& optimiser, const O& same, double rate, Index steps, const StateVisit& visit) {
  { same.name } -> std::convertible_to<std::string>;
  optimiser.step(rate);  // and sets the gradients to 0
  { same.steps() } -> std::convertible_to<Index>;
  optimiser.set_steps(steps);
  optimiser.for_each_state(visit);
};

}  // namespace attn
