#pragma once
#include <doctest/doctest.h>

#include <string>

#include "support/tensor.hpp"

/// Compares the gradient of a loss, a function of the values of x, with central differences (eps 1e-6, atol 1e-5, rtol
/// 1e-3). Use a device that computes in double.
template <class Device, class Loss>
void check_gradient(const std::string& of, Tensor<Device>& x, const Numbers& gradient, const Loss& loss) {
  constexpr double kStep = 1e-6, kAbsolute = 1e-5, kRelative = 1e-3;
  const Numbers start = x.read();
  REQUIRE(gradient.size() == start.size());
  double worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto loss_at = [&](double value) {
      Numbers moved = start;
      moved[i] = value;
      x.write(moved);
      return loss();
    };
    const double numeric = (loss_at(start[i] + kStep) - loss_at(start[i] - kStep)) / (2 * kStep);
    const double error = std::abs(gradient[i] - numeric) / (kAbsolute + kRelative * std::abs(numeric));
    if (std::isnan(error) || error > worst) worst = std::isnan(error) ? HUGE_VAL : error, where = i;
  }
  x.write(start);
  INFO("gradient of ", of, ", worst at element ", where, ": ", gradient.empty() ? 0.0 : gradient[where]);
  CHECK(worst <= 1);
}
