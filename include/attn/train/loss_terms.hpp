#pragma once
#include <array>
#include <string>
#include <vector>

#include "attn/core/memory.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/tape/loss.hpp"
#include "attn/train/callback.hpp"

namespace attn {

/// Sums of the terms of losses on the device, over several batches. Reading them is the only time the host waits.
template <class Device>
class LossTerms {
  using Real = typename Device::Real;
  static constexpr std::size_t kMost = 16;

 public:
  explicit LossTerms(Device& device) : device_(device), sums_(device, Index{2 * kMost}, "sums of losses") { clear(); }

  /// Counts a batch whose loss is about to be computed.
  void add(const Loss<Device>& loss) {
    std::size_t i = 0;
    loss.for_each([&](auto& term, double) {
      require(i < kMost, "Trainer: a loss of more than ", kMost, " terms; add some of them up before");
      if (i == terms_.size()) terms_.push_back({std::string(term.name), 0});
      terms_[i++].count += term.labels > 0 ? static_cast<double>(term.labels) : term.normalizer;
    });
  }
  /// Where term i adds to [2 i] and [2 i + 1].
  Real* sums() const { return sums_.data(); }

  /// The mean of each term over all ranks: per label of a cross-entropy, per unit of the normalizer of others. Takes nothing
  /// from the heap after the first call, as training steps do.
  const std::vector<LossTerm>& read(Communicator* ranks) {
    std::array<Real, 2 * kMost> sums;
    device_.download(sums.data(), sums_.data(), std::ssize(sums));
    std::array<double, 2 * kMost> numbers{};  // of all terms there may be: a rank without a batch takes part too
    for (std::size_t i = 0; i < kMost; ++i) {
      numbers[2 * i] = static_cast<double>(sums[2 * i]);
      if (i < terms_.size()) numbers[2 * i + 1] = terms_[i].count;
    }
    if (ranks != nullptr) ranks->sum(numbers.data(), std::ssize(numbers));
    means_.clear();
    for (std::size_t i = 0; i < kMost && numbers[2 * i + 1] > 0; ++i)
      means_.push_back({i < terms_.size() ? terms_[i].name : "loss", numbers[2 * i] / numbers[2 * i + 1]});
    return means_;
  }
  void clear() {
    terms_.clear();
    device_.zero(sums_.data(), sums_.size());
  }

 private:
  struct Counted {
    std::string name;
    double count;
  };
  Device& device_;
  Buffer<Real, typename Device::Memory> sums_;
  std::vector<Counted> terms_;
  std::vector<LossTerm> means_;
};

}  // namespace attn
