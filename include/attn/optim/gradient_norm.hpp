#pragma once
#include "attn/optim/non_finite.hpp"
#include "attn/optim/update_share.hpp"

namespace attn {

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
        skipped_(optimiser_state(parameters, 2)) {
    parameters.step_gradients();  // an error if there are none
  }

  void compute() {
    sum_of_squares(parameters_.device(),
                   {.x = parameters_.step_gradients() + share_.first, .count = share_.count, .total = squares_.data()});
    if (share_.add_up) share_.add_up(squares_.data());
    computed_ = true;
  }
  const Real* squares() const { return squares_.data(); }

  // Skipping steps needs the norm of every step.
  void set_non_finite(NonFinite policy) { non_finite_ = policy; }
  bool skips() const { return non_finite_ == NonFinite::skip; }
  LeftOut<Real> left_out() const { return {computed_ ? skipped_.data() : nullptr, !skips()}; }
  SkippedSteps take_skipped_steps() {
    if (!computed_) return {};
    Real skipped[2] = {};
    parameters_.device().download(skipped, skipped_.data(), 2);
    if (skipped[0] > 0) parameters_.device().zero(skipped_.data(), 2);
    return {static_cast<Index>(skipped[0]), static_cast<Index>(skipped[1])};
  }

  /// The last computed norm, if any; waits for the device.
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
  Buffer<Real, typename Device::Memory> skipped_;  // number of skipped steps, and the first of them
  NonFinite non_finite_ = NonFinite::stop;
  bool computed_ = false;
};

}  // namespace attn
