#pragma once
#include "attn/core/parameters.hpp"
#include "attn/ops/optimisers.hpp"
#include "attn/optim/non_finite.hpp"

namespace attn {

/// The parameters that an optimiser updates: all, or a part if several processes share the work
/// (parallel/data_parallel.hpp).
template <class Device>
struct UpdateShare {
  Index first = 0, count = -1;                              // a part of the flat buffers; -1: all
  std::function<void(typename Device::Real*)> add_up = {};  // replaces a number on the device by its sum over all processes
  std::function<void()> gather_values = {};                 // after a step: sends all values to all processes

  static UpdateShare all(const Parameters<Device>& parameters) { return {0, parameters.size()}; }
};

/// Zeros on the device, one for each number of the parameters: a state of an optimiser.
template <class Device>
Buffer<typename Device::Real, typename Device::Memory> optimiser_state(Parameters<Device>& parameters, Index count) {
  Buffer<typename Device::Real, typename Device::Memory> numbers(parameters.device(), count, "optimiser states");
  parameters.device().zero(numbers.data(), count);
  return numbers;
}

/// The sum of all gradients' squares, on the device, for optimisers that clip by the global norm or leave out steps whose
/// gradients are not finite.
template <class Device>
class GradientNorm {
 public:
  using Real = typename Device::Real;

  GradientNorm(Parameters<Device>& parameters, UpdateShare<Device> share)
      : parameters_(parameters),
        share_(std::move(share)),
        squares_(optimiser_state(parameters, 1)),
        skipped_(optimiser_state(parameters, 2)) {
    parameters.step_gradients();  // an error if there are none
  }

  void compute() {
    sum_of_squares(parameters_.device(),
                   {.x = parameters_.step_gradients() + share_.first, .count = share_.count, .total = squares_.data()});
    if (share_.add_up) share_.add_up(squares_.data());
    computed_ = true;
  }
  const Real* squares() const { return squares_.data(); }

  // Skipping steps needs the norm of every step.
  void set_non_finite(NonFinite policy) { non_finite_ = policy; }
  bool skips() const { return non_finite_ == NonFinite::skip; }
  LeftOut<Real> left_out() const { return {computed_ ? skipped_.data() : nullptr, !skips()}; }
  SkippedSteps take_skipped_steps() {
    if (!computed_) return {};
    Real skipped[2] = {};
    parameters_.device().download(skipped, skipped_.data(), 2);
    if (skipped[0] > 0) parameters_.device().zero(skipped_.data(), 2);
    return {static_cast<Index>(skipped[0]), static_cast<Index>(skipped[1])};
  }

  /// The last computed norm, if any; waits for the device.
  std::optional<double> read() const {
    if (!computed_) return {};
    Real squares = 0;
    parameters_.device().download(&squares, squares_.data(), 1);
    return std::sqrt(static_cast<double>(squares));
  }

 private:
  Parameters<Device>& parameters_;
  UpdateShare<Device> share_;
  Buffer<Real, typename Device::Memory> squares_;
  Buffer<Real, typename Device::Memory> skipped_;  // number of skipped steps, and the first of them
  NonFinite non_finite_ = NonFinite::stop;
  bool computed_ = false;
};

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
