#pragma once
#include "attn/ops/decoding.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/expression.hpp"

namespace attn {

/// Uploads host values in row-major order as an activation without a gradient. torch.tensor(numbers, device=...).
template <class Device>
Variable<Device> upload(Tape<Device>& tape, const std::vector<typename Device::Real>& numbers, Index rows, Index cols) {
  using Scalar = typename Device::Scalar;
  require(static_cast<Index>(numbers.size()) == rows * cols, "upload: ", numbers.size(), " numbers for an activation of ",
          rows, " x ", cols);
  std::vector<Scalar> converted(numbers.size());
  std::ranges::transform(numbers, converted.begin(), [](auto number) { return static_cast<Scalar>(number); });
  return tape.constant({tape.upload(converted.data(), rows * cols), rows, cols});
}

/// Copies an activation to the host, row by row. Waits for the device. x.cpu() in PyTorch.
template <Activation X>
auto download(const X& of) {
  using Device = typename X::DeviceType;
  using Real = typename Device::Real;
  const Variable<Device> x = evaluated(of);
  std::vector<typename Device::Scalar> row(static_cast<std::size_t>(x.cols()));
  std::vector<Real> numbers;
  numbers.reserve(static_cast<std::size_t>(x.rows() * x.cols()));
  for (Index i = 0; i < x.rows(); ++i) {  // a slice's rows are not contiguous
    x.tape().device.download(row.data(), x.value.row(i), x.cols());
    for (const auto number : row) numbers.push_back(static_cast<Real>(number));
  }
  return numbers;
}

/// The column of each row's largest element, on the host; first of equals. Waits for the device. torch.argmax(x, dim=1).
std::vector<Token> argmax(const Activation auto& of) {
  const auto x = evaluated(of);
  auto& tape = x.tape();
  auto* const best = tape.template array<Token>(x.rows());
  argmax(tape.device, {.logits = x.value, .best = best});
  std::vector<Token> columns(static_cast<std::size_t>(x.rows()));
  tape.device.download(columns.data(), best, x.rows());
  return columns;
}

}  // namespace attn
