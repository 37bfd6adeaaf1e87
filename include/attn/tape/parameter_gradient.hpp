#pragma once
#include "attn/core/parameter.hpp"
#include "attn/ops/linear.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// A parameter's gradient; null if the parameter is frozen, for inference, or absent.
template <class Device>
typename Device::Real* gradient_or_null(const Parameter<Device>& parameter) {
  return parameter.learns() ? parameter.gradient : nullptr;
}

/// The gradient memory of a parameter, for ops that always compute its gradient: scratch memory if the parameter does not
/// learn.
template <class Device>
class GradientOrScratch {
  using Real = typename Device::Real;

 public:
  GradientOrScratch(Tape<Device>& back, const Parameter<Device>& parameter) : back_(back) {
    if (!parameter.learns() && parameter.size() != 0) {
      scratch_ = back.template scratch<Real>(parameter.rows, parameter.cols);
      back.device.zero(scratch_);
    }
    gradient_ = scratch_.empty() ? Matrix<Real>(parameter.gradient, parameter.rows, parameter.cols) : scratch_;
  }
  GradientOrScratch(const GradientOrScratch&) = delete;
  ~GradientOrScratch() {
    if (!scratch_.empty()) back_.release(scratch_);
  }
  operator Real*() const { return gradient_.data; }
  operator Matrix<Real>() const { return gradient_; }

 private:
  Tape<Device>& back_;
  Matrix<Real> gradient_, scratch_;
};

/// For y = x Wᵀ + b, adds the gradients of W and b if they learn.
template <class Device>
void add_linear_gradient(Tape<Device>& back, Matrix<const typename Device::Scalar> dy,
                         Matrix<const typename Device::Scalar> x, const Parameter<Device>& weight,
                         const Parameter<Device>& bias = {}) {
  if (!weight.learns() && !bias.learns()) return;
  const GradientOrScratch<Device> dweight(back, weight);
  linear_weight_gradient(back.device, {.dy = dy, .x = x, .dweight = dweight, .dbias = gradient_or_null(bias)});
}

/// The gradient memory of x, for ops that always compute its gradient: scratch memory if x wants none.
template <class Device>
class SinkOrScratch {
  using Scalar = typename Device::Scalar;

 public:
  SinkOrScratch(Tape<Device>& back, Variable<Device> x) : back_(back), sink_(back.sink(x)) {
    if (x.slot != nullptr || x.value.empty()) return;
    scratch_ = back.template scratch<Scalar>(x.rows(), x.cols());
    sink_ = {scratch_};
  }
  SinkOrScratch(const SinkOrScratch&) = delete;
  ~SinkOrScratch() {
    if (!scratch_.empty()) back_.release(scratch_);
  }
  operator Sink<Scalar>() const { return sink_; }

 private:
  Tape<Device>& back_;
  Sink<Scalar> sink_;
  Matrix<Scalar> scratch_;
};

}  // namespace attn
