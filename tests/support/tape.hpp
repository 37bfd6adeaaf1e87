#pragma once
#include "attn/core/parameter.hpp"
#include "attn/tape/tape.hpp"
#include "support/tensor.hpp"

/// An activation with given values and no producer.
template <int Width, class Device>
attn::Variable<Device, Width> input(attn::Tape<Device>& tape, const Numbers& numbers) {
  using Scalar = typename Device::Scalar;
  const auto x = tape.make(static_cast<attn::Index>(numbers.size()) / Width, Width);
  const std::vector<Scalar> host(numbers.begin(), numbers.end());
  tape.device.upload(x.value.data, host.data(), static_cast<attn::Index>(host.size()));
  return x;
}

template <class Device>
Numbers numbers_of(Device& device, attn::Matrix<typename Device::Scalar> matrix) {
  Numbers numbers;
  std::vector<typename Device::Scalar> row(static_cast<std::size_t>(matrix.cols));
  for (attn::Index i = 0; i < matrix.rows; ++i) {
    device.download(row.data(), matrix.row(i), matrix.cols);
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  return numbers;
}

template <class Device>
Numbers values(attn::Tape<Device>& tape, attn::Variable<Device> x) {
  return numbers_of(tape.device, x.value);
}

/// The gradient of an input after the backward pass; empty if nothing contributed to it.
template <class Device>
Numbers gradient(attn::Tape<Device>& tape, attn::Variable<Device> x) {
  if (x.slot->gradient.empty()) return {};
  return numbers_of(tape.device, tape.sink(x).to);  // zero-fills slices without contributions, as a producer would
}

/// Adds to the gradient of y, as a loss does.
template <class Device>
void contribute(attn::Tape<Device>& tape, attn::Variable<Device> y, const Numbers& dy) {
  const auto sink = tape.sink(y);
  Numbers sum = dy;
  if (sink.add) sum = sum_of(sum, numbers_of(tape.device, sink.to));
  const std::vector<typename Device::Scalar> host(sum.begin(), sum.end());
  for (attn::Index i = 0; i < y.rows(); ++i) tape.device.upload(sink.to.row(i), host.data() + i * y.cols(), y.cols());
}

/// A parameter whose values and gradient the test can read and write. The gradient starts at 0.
template <class Device>
struct TestParameter : attn::Parameter<Device> {
  Tensor<Device> numbers, gradients;

  TestParameter(Device& device, attn::Index row_count, attn::Index col_count, std::uint64_t seed)
      : attn::Parameter<Device>{row_count, col_count},
        numbers(device, row_count, col_count, random_numbers(row_count * col_count, seed)),
        gradients(device, row_count, col_count, 0.0) {
    this->value = numbers.data();
    this->gradient = gradients.data();
  }
};
