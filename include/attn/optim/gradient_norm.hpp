#pragma once
#include <cmath>
#include <optional>
#include <utility>

#include "attn/core/parameters.hpp"
#include "attn/ops/sum_of_squares.hpp"
#include "attn/optim/bad_numbers.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

/// Zeros on the device, one for each number of the parameters: a state of an optimiser.
template <class Device>
Buffer<typename Device::Real, typename Device::Memory> optimiser_state(Parameters<Device>& parameters, Index count) {
  Buffer<typename Device::Real, typename Device::Memory> numbers(parameters.device(), count, "optimiser states");
  parameters.device().zero(numbers.data(), count);
  return numbers;
}

/// The sum of all gradients' squares, on the device, for optimisers that clip by the global norm or leave out steps whose
/// gradients are not finite.
template <class Device>
class GradientNorm {
 public:
  using Real = typename Device::Real;

  GradientNorm(Parameters<Device>& parameters, UpdateShare<Device> share)
      : parameters_(parameters),
        share_(std::move(share)),
        squares_(optimiser_state(parameters, 1)),
        bad_(optimiser_state(parameters, 2)) {
    parameters.gradients();  // an error if there are none
  }

  /// Of the gradients as they are now.
  void compute() {
    sum_of_squares(parameters_.device(),
                   {.x = parameters_.gradients() + share_.first, .count = share_.count, .total = squares_.data()});
    if (share_.add_up) share_.add_up(squares_.data());
    computed_ = true;
  }
  const Real* squares() const { return squares_.data(); }

  // What becomes of gradients that are not finite. To leave steps out the norm must be computed at every one of them.
  void set_bad_numbers(BadNumbers what) { bad_numbers_ = what; }
  bool skips() const { return bad_numbers_ == BadNumbers::skip; }
  LeftOut<Real> left_out() const { return {computed_ ? bad_.data() : nullptr, !skips()}; }
  BadSteps take_bad_steps() {
    if (!computed_) return {};
    Real noted[2] = {};
    parameters_.device().download(noted, bad_.data(), 2);
    if (noted[0] > 0) parameters_.device().zero(bad_.data(), 2);
    return {static_cast<Index>(noted[0]), static_cast<Index>(noted[1])};
  }

  /// The norm as it was last computed, if it was; waits for the device.
  std::optional<double> read() const {
    if (!computed_) return {};
    Real squares = 0;
    parameters_.device().download(&squares, squares_.data(), 1);
    return std::sqrt(static_cast<double>(squares));
  }

 private:
  Parameters<Device>& parameters_;
  UpdateShare<Device> share_;
  Buffer<Real, typename Device::Memory> squares_;
  Buffer<Real, typename Device::Memory> bad_;  // steps left out: how many, and the first
  BadNumbers bad_numbers_ = BadNumbers::stop;
  bool computed_ = false;
};

}  // namespace attn
