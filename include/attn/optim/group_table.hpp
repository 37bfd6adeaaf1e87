#pragma once
#include "attn/optim/update_share.hpp"

namespace attn {

/// The parameter groups as optimisers read them: a table on the device with one entry per kParameterBlock numbers of the
/// optimiser's share.
template <class Device>
class GroupTable {
 public:
  using Real = typename Device::Real;
  using Entry = typename Parameters<Device>::Entry;

  /// The weight decay of the optimiser's options, and whether it applies to vectors.
  struct Decay {
    double weight_decay = 0;
    bool vectors = false;
  };

  GroupTable(Parameters<Device>& parameters, const UpdateShare<Device>& share,
             std::function<Decay(std::size_t entry)> decay)
      : parameters_(parameters), first_(share.first), count_(share.count), decay_(std::move(decay)) {
    require(first_ % kParameterBlock == 0, "an optimiser's share starts at number ", first_,
            ", which is not a multiple of ", kParameterBlock);
  }

  void update() {
    if (version_ != parameters_.groups_version()) read();
  }

  /// Excludes gradients that were written for frozen parameters from the norm.
  void zero_frozen_gradients() const {
    for (const auto& [first, count] : frozen_) parameters_.device().zero(parameters_.step_gradients() + first, count);
  }

  /// The table; nullptr if the optimiser's options apply to all parameters.
  const UpdateFactors<Real>* data() const { return uniform_ ? nullptr : table_.data(); }

 private:
  void read() {
    version_ = parameters_.groups_version();
    uniform_ = true;
    frozen_.clear();
    bool learns = parameters_.entries().empty();
    std::vector<UpdateFactors<Real>> table(static_cast<std::size_t>((count_ + kParameterBlock - 1) / kParameterBlock));
    for (std::size_t i = 0; i < parameters_.entries().size(); ++i) {
      const Entry& entry = parameters_.entries()[i];
      learns = learns || !entry.frozen;
      const Index first = std::max(first_, entry.offset),
                  last = std::min(first_ + count_, entry.offset + padded_size(entry.size()));
      if (first >= last) continue;
      const Decay decay = decay_(i);
      const bool decays = !entry.is_vector() || decay.vectors || entry.group.decay_vectors;
      UpdateFactors<Real> factors{0, 0};  // frozen
      if (!entry.frozen)
        factors = {static_cast<Real>(entry.group.rate),
                   static_cast<Real>(decays ? entry.group.weight_decay.value_or(decay.weight_decay) : 0)};
      uniform_ = uniform_ && factors == UpdateFactors<Real>{1, static_cast<Real>(decay.weight_decay)};
      std::fill(table.begin() + (first - first_) / kParameterBlock,
                table.begin() + (last - first_ + kParameterBlock - 1) / kParameterBlock, factors);
      if (!entry.frozen) continue;
      if (!frozen_.empty() && frozen_.back().first + frozen_.back().second == first)
        frozen_.back().second += last - first;
      else
        frozen_.emplace_back(first, last - first);
    }
    require(learns, "all parameters of the model are frozen: unfreeze those that training should update");
    if (uniform_) return;
    const Index size = static_cast<Index>(table.size());
    if (table_.size() == 0) table_ = Table(parameters_.device(), size, "factors of parameter groups");
    parameters_.device().upload(table_.data(), table.data(), size);
  }

  using Table = Buffer<UpdateFactors<Real>, typename Device::Memory>;

  Parameters<Device>& parameters_;
  Index first_, count_;
  std::function<Decay(std::size_t)> decay_;
  Index version_ = -1;
  bool uniform_ = true;
  Table table_;
  std::vector<std::pair<Index, Index>> frozen_;  // first number and count, in the share
};

}  // namespace attn
