#pragma once
#include <concepts>
#include <optional>
#include <string>

#include "attn/core/types.hpp"

namespace attn {

/// What visits an optimiser's state: visit(name, numbers) for each flat buffer on the device.
struct StateVisit {
  template <class Numbers>
  void operator()(const std::string&, const Numbers&) const {}
};

/// What moves parameters against their gradients. Checkpoints save its states under its name: "adam.m".
template <class O>
concept Optimiser = requires(O& optimiser, const O& same, double rate, Index steps, const StateVisit& visit) {
  { O::name } -> std::convertible_to<std::string>;
  optimiser.step(rate);  // and sets the gradients to 0
  { same.steps() } -> std::convertible_to<Index>;
  optimiser.set_steps(steps);
  optimiser.for_each_state(visit);
};

/// The norm of all gradients of the last step, where the optimiser has computed it; none where it has not.
template <class O>
std::optional<double> gradient_norm(const O& optimiser) {
  if constexpr (requires { optimiser.gradient_norm(); })
    return optimiser.gradient_norm();
  else
    return {};
}

/// Which of several optimisers updates which parameters; empty for one that updates all of them.
template <class O>
std::string optimiser_rules(const O& optimiser) {
  if constexpr (requires { optimiser.rules(); })
    return optimiser.rules();
  else
    return {};
}

}  // namespace attn
