#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "attn/ops/optimisers.hpp"
#include "support/tensor.hpp"

// Compares steps of Adam and SGD with a table of update factors on a device with a double-precision version on the host.

/// Numbers on a device, as its Real.
template <class Device>
class RealNumbers {
 public:
  using Real = typename Device::Real;
  RealNumbers(Device& device, const Numbers& numbers)
      : device_(device), buffer_(device, static_cast<attn::Index>(numbers.size())) {
    const std::vector<Real> host(numbers.begin(), numbers.end());
    device.upload(buffer_.data(), host.data(), buffer_.size());
  }
  Real* data() const { return buffer_.data(); }
  std::vector<Real> read() const {
    std::vector<Real> host(static_cast<std::size_t>(buffer_.size()));
    device_.download(host.data(), buffer_.data(), buffer_.size());
    return host;
  }

 private:
  Device& device_;
  attn::Buffer<Real, typename Device::Memory> buffer_;
};

/// A table of factors: default, slower, frozen and faster blocks. The last block is partial.
template <class Real>
std::vector<attn::UpdateFactors<Real>> some_factors() {
  using F = attn::UpdateFactors<Real>;
  const F plain{1, Real(0.1)}, no_decay{1, 0}, slow{Real(0.125), Real(0.1)}, frozen{0, 0}, fast{4, Real(0.5)};
  std::vector<F> table(20, plain);  // longer than a chunk of the CPU's update
  for (const F& factors : {no_decay, slow, slow, frozen, frozen, fast, frozen, plain}) table.push_back(factors);
  return table;
}

template <class Device>
class FactorsCase {
 public:
  using Real = typename Device::Real;
  static constexpr attn::Index kCount = 27 * attn::kParameterBlock + 37;
  static constexpr double kRate = 0.01;

  explicit FactorsCase(Device& device)
      : device_(device), host_table_(some_factors<Real>()), table_(device, static_cast<attn::Index>(host_table_.size())) {
    device.upload(table_.data(), host_table_.data(), table_.size());
  }

  void check_adam(attn::AdamOptions options) {
    const Numbers start = random_numbers(kCount, 1), zeros(start.size(), 0);
    Numbers value = start, m = zeros, v = zeros;
    const RealNumbers<Device> on_value(device_, value), on_m(device_, m), on_v(device_, v);
    for (attn::Index step = 1; step <= 3; ++step) {
      const Numbers g = random_numbers(kCount, static_cast<std::uint64_t>(step) + 1);
      const RealNumbers<Device> gradient(device_, g);
      attn::AdamArgs<Device> args{.value = on_value.data(),
                                  .gradient = gradient.data(),
                                  .m = on_m.data(),
                                  .v = on_v.data(),
                                  .count = kCount,
                                  .options = options,
                                  .rate = kRate,
                                  .step = step,
                                  .factors = table_.data()};
      adam(device_, args);
      check_zero(gradient);
      const double t = static_cast<double>(step);
      for (std::size_t i = 0; i < g.size(); ++i) {
        const auto [factor, decay] = factors_at(i);
        if (factor == 0) continue;
        const bool decoupled = options.decay == attn::AdamOptions::Decay::decoupled;
        const double gi = g[i] + (decoupled ? 0 : decay * value[i]), rate = kRate * factor;
        m[i] = options.beta1 * m[i] + (1 - options.beta1) * gi;
        v[i] = options.beta2 * v[i] + (1 - options.beta2) * gi * gi;
        const double root = std::sqrt(v[i] / (1 - std::pow(options.beta2, t)));
        value[i] -= rate * (decoupled ? decay * value[i] : 0) +
                    rate * m[i] / (1 - std::pow(options.beta1, t)) / (root + options.epsilon);
      }
    }
    check_near(on_value, value);
    check_near(on_m, m);
    check_near(on_v, v);
    check_frozen(on_value, start);
    check_frozen(on_m, zeros);
    check_frozen(on_v, zeros);
  }

  void check_sgd(attn::SgdOptions options) {
    const Numbers start = random_numbers(kCount, 1), zeros(start.size(), 0);
    Numbers value = start, b = zeros;
    const RealNumbers<Device> on_value(device_, value), on_b(device_, b);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      const Numbers g = random_numbers(kCount, step + 1);
      const RealNumbers<Device> gradient(device_, g);
      attn::SgdArgs<Device> args{.value = on_value.data(),
                                 .gradient = gradient.data(),
                                 .momentum = options.momentum > 0 ? on_b.data() : nullptr,
                                 .count = kCount,
                                 .options = options,
                                 .rate = kRate,
                                 .factors = table_.data()};
      sgd(device_, args);
      check_zero(gradient);
      for (std::size_t i = 0; i < g.size(); ++i) {
        const auto [factor, decay] = factors_at(i);
        if (factor == 0) continue;
        const double gi = g[i] + decay * value[i];
        b[i] = options.momentum * b[i] + gi;
        value[i] -= kRate * factor * (options.nesterov ? gi + options.momentum * b[i] : b[i]);
      }
    }
    check_near(on_value, value);
    check_frozen(on_value, start);
    if (options.momentum > 0) check_frozen(on_b, zeros), check_near(on_b, b);
  }

 private:
  attn::UpdateFactors<double> factors_at(std::size_t i) const {
    const auto& factors = host_table_[i / static_cast<std::size_t>(attn::kParameterBlock)];
    return {static_cast<double>(factors.rate), static_cast<double>(factors.weight_decay)};
  }
  static void check_zero(const RealNumbers<Device>& gradient) {
    CHECK(gradient.read() == std::vector<Real>(static_cast<std::size_t>(kCount), Real(0)));
  }
  static void check_near(const RealNumbers<Device>& numbers, const Numbers& expected) {
    double worst = 0;
    const auto read = numbers.read();
    for (std::size_t i = 0; i < expected.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(read[i]) - expected[i]));
    CHECK(worst <= (sizeof(Real) == sizeof(double) ? 1e-14 : 1e-6));
  }
  /// Numbers of frozen blocks are unchanged, bit by bit.
  void check_frozen(const RealNumbers<Device>& numbers, const Numbers& before) const {
    const auto read = numbers.read();
    std::size_t changed = 0, frozen = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (factors_at(i).rate == 0) ++frozen, changed += read[i] != static_cast<Real>(before[i]);
    CHECK(frozen == 3 * static_cast<std::size_t>(attn::kParameterBlock));
    CHECK(changed == 0);
  }

  Device& device_;
  std::vector<attn::UpdateFactors<Real>> host_table_;
  attn::Buffer<attn::UpdateFactors<Real>, typename Device::Memory> table_;
};

template <class Device>
void check_update_factors(Device& device) {
  using Decay = attn::AdamOptions::Decay;
  FactorsCase<Device> test(device);
  test.check_adam({.beta2 = 0.98, .weight_decay = 7});  // overridden by the table
  test.check_adam({.beta2 = 0.98, .decay = Decay::coupled});
  test.check_sgd({.weight_decay = 7});
  test.check_sgd({.momentum = 0.9});
  test.check_sgd({.momentum = 0.9, .nesterov = true});
}
