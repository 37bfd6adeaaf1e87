#pragma once
#include "attn/core/network.hpp"
#include "attn/data/batches.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/train/callback.hpp"

namespace attn {

/// The loss of a batch under any network, so that the trainer and validation are compiled once for all models.
template <class Device>
class BatchLoss {
 public:
  template <class Model>
  BatchLoss(const Network<Model>& network)
      : share_of_step([&network](Tape<Device>& tape, const Batch& batch, const LossOptions& options, double share) {
          if constexpr (requires { network->loss(tape, batch, options); })
            return network->loss(tape, batch, options).scaled([=](const auto& term) {
              return term.labels > 0 ? 1 : share;
            });
          else
            return share * network->loss(tape, batch);
        }),
        loss_([&network](Tape<Device>& tape, const Batch& batch) { return network->loss(tape, batch); }) {
    static_assert(
        requires(const Model& model, Tape<Device>& tape, const Batch& batch) {
          { model.loss(tape, batch) } -> std::same_as<Loss<Device>>;
        },
        "attn: Trainer: a model needs  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) "
        "const; the options may be left out");
  }

  Loss<Device> operator()(Tape<Device>& tape, const Batch& batch) const { return loss_(tape, batch); }

  /// The loss of one batch of a step. A cross-entropy that takes the options is divided by the labels or sentences of the
  /// whole step. Other terms are means over their batch, weighted by the batch's share of the step. So the gradients of
  /// several batches sum to that of one large batch.
  std::function<Loss<Device>(Tape<Device>&, const Batch&, const LossOptions&, double share)> share_of_step;

 private:
  std::function<Loss<Device>(Tape<Device>&, const Batch&)> loss_;
};

template <class Model>
BatchLoss(const Network<Model>&) -> BatchLoss<typename Model::DeviceType>;

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
