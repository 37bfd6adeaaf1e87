#pragma once
#include "attn/train/batch_loss.hpp"

namespace attn {

/// Sums the loss terms of several batches on the device. The host waits for the device only in read().
template <class Device>
class LossTerms {
  using Real = typename Device::Real;

 public:
  static constexpr std::size_t most = 16;  // terms of a loss

  explicit LossTerms(Device& device) : device_(device), sums_(device, Index{2 * most}, "sums of losses") { clear(); }

  static void check(const Loss<Device>& loss) {
    std::size_t terms = 0;
    loss.for_each([&](auto&, double) { ++terms; });
    require(terms <= most, "Trainer: a loss has more than ", most, " terms. Add some of them up.");
  }

  /// Counts the labels of a batch; call before its loss is computed.
  void add(const Loss<Device>& loss) {
    check(loss);
    std::size_t i = 0;
    loss.for_each([&](auto& term, double) {
      if (i == counts_.size()) counts_.push_back(LossTerm{std::string(term.name), 0});
      counts_[i++].value += term.labels > 0 ? static_cast<double>(term.labels) : term.normalizer;
    });
  }
  /// Term i accumulates into [2 i] and [2 i + 1].
  Real* sums() const { return sums_.data(); }

  /// The mean of each term over all ranks: per label for a cross-entropy, per unit of the normalizer for others. Allocates
  /// only in the first call, so that training steps do not allocate.
  const std::vector<LossTerm>& read(Communicator* ranks) {
    std::array<Real, 2 * most> sums;
    device_.download(sums.data(), sums_.data(), std::ssize(sums));
    std::array<double, 2 * most> numbers{};  // all possible terms: ranks without a batch take part too
    for (std::size_t i = 0; i < most; ++i) {
      numbers[2 * i] = static_cast<double>(sums[2 * i]);
      if (i < counts_.size()) numbers[2 * i + 1] = counts_[i].value;
    }
    if (ranks != nullptr) ranks->sum(numbers.data(), std::ssize(numbers));
    means_.clear();
    for (std::size_t i = 0; i < most && numbers[2 * i + 1] > 0; ++i)
      means_.push_back({i < counts_.size() ? counts_[i].name : "loss", numbers[2 * i] / numbers[2 * i + 1]});
    return means_;
  }
  void clear() {
    counts_.clear();
    device_.zero(sums_.data(), sums_.size());
  }

 private:
  Device& device_;
  Buffer<Real, typename Device::Memory> sums_;
  std::vector<LossTerm> counts_, means_;  // counts: labels, or units of the normalizer
};

}  // namespace attn
