#pragma once
#include "attn/tape/tape.hpp"

namespace attn {

/// A parameter's gradient; null if the parameter is frozen, for inference, or absent.
template <class Device>
typename Device::Real* gradient_or_null(const Parameter<Device>& parameter) {
  return parameter.learns() ? parameter.gradient : nullptr;
}

/// Temporary memory of a gradient computation, freed with this object.
template <class Device, class T>
struct Scratch {
  Tape<Device>& back;
  Matrix<T> matrix;

  Scratch(Tape<Device>& on, Index rows, Index cols) : back(on), matrix(on.template scratch<T>(rows, cols)) {}
  Scratch(const Scratch&) = delete;
  ~Scratch() { back.release(matrix); }
};

/// The gradient memory of a parameter, for ops that always compute its gradient: scratch memory if the parameter does not
/// learn.
template <class Device>
class GradientOrScratch {
  using Real = typename Device::Real;

 public:
  GradientOrScratch(Tape<Device>& back, const Parameter<Device>& parameter)
      : gradient_(parameter.gradient, parameter.rows, parameter.cols) {
    if (parameter.learns() || parameter.size() == 0) return;
    gradient_ = scratch_.emplace(back, parameter.rows, parameter.cols).matrix;
    back.device.zero(gradient_);
  }
  operator Real*() const { return gradient_.data; }
  operator Matrix<Real>() const { return gradient_; }

 private:
  Matrix<Real> gradient_;
  std::optional<Scratch<Device, Real>> scratch_;
};

/// The gradient memory of x, for ops that always compute its gradient: scratch memory if x wants none. `covered`: the number
/// of rows that the op writes. If it is fewer than all, the others get gradient 0.
template <class Device>
class SinkOrScratch {
  using Scalar = typename Device::Scalar;

 public:
  SinkOrScratch(Tape<Device>& back, Variable<Device> x) : SinkOrScratch(back, x, x.rows()) {}
  SinkOrScratch(Tape<Device>& back, Variable<Device> x, Index covered) : sink_(back.sink(x)) {
    if (x.slot == nullptr && !x.value.empty()) sink_ = {scratch_.emplace(back, x.rows(), x.cols()).matrix};
    if (!sink_.add && covered < x.rows()) back.device.zero(sink_.to), sink_.add = true;
  }
  operator Sink<Scalar>() const { return sink_; }

 private:
  Sink<Scalar> sink_;
  std::optional<Scratch<Device, Scalar>> scratch_;
};

}  // namespace attn
