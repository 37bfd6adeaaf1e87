#pragma once
#include <chrono>

#include "attn/core/network.hpp"
#include "attn/optim/update_share.hpp"
#include "attn/parallel/communicator.hpp"

namespace attn {

struct DataParallelOptions {
  /// Shards the optimizer state: each rank updates one part of the parameters, then the parts are broadcast (ZeRO stage 1,
  /// Rajbhandari et al. 2020). Otherwise every rank updates all parameters.
  bool shard_optimiser = false;
  /// Overlaps all-reduce with the backward pass; false runs it afterwards, to measure the gain.
  bool overlap = true;
};

/// Data-parallel training: each rank has the whole model, computes gradients of its own batches, and steps with the sum of
/// all ranks' gradients.
///
///     Mpi mpi(count, words);
///     DataParallel ranks(mpi, network, {.shard_optimiser = true});
///     Adam adam(network, {}, ranks.share());
///     Trainer trainer(network, adam, schedule, options, &ranks);
///
/// All-reduce of a layer's gradients overlaps with the backward pass of earlier layers.
template <class Device>
class DataParallel {
 public:
  using Real = typename Device::Real;
  using Range = GradientRange<Real>;

  DataParallel(Communicator& communicator, Parameters<Device>& parameters, DataParallelOptions options = {})
      : through_host_(through_host_of(communicator, parameters.device())),
        communicator_(through_host_ ? *through_host_ : communicator),
        parameters_(parameters),
        sharded_(options.shard_optimiser && ranks() > 1),
        overlap_(options.overlap) {
    plan({});
  }
  template <class Model>
  DataParallel(Communicator& communicator, Network<Model>& network, DataParallelOptions options = {})
      : DataParallel(communicator, network.parameters, options) {}
  DataParallel(const DataParallel&) = delete;  // share() refers to this object

  Communicator& communicator() const { return communicator_; }
  Index rank() const { return communicator_.rank(); }
  Index ranks() const { return communicator_.ranks(); }

  /// The part of the parameters that this rank's optimizer updates.
  UpdateShare<Device> share() {
    if (!sharded_) return {};
    return {first_of_share(), part_of(rank()).count, [this](Real* number) { add_up(number); }, [this] { gather_values(); }};
  }

  Index first_of_share() const { return sharded_ ? part_of(rank()).first - parameters_.gradients() : 0; }

  /// Sets the order in which gradients become complete, as observed through tape.on_complete.
  void plan(const std::vector<Range>& completed) {
    early_.clear();
    for (const Range& range : completed)
      if (overlap_ && range.count > 0 && std::ranges::count(completed, range) == 1 && !shared(range))
        early_.push_back(range);
    std::vector<Range> order = early_;
    std::ranges::sort(order, {}, &Range::first);
    late_.clear();
    Real* next = parameters_.gradients();
    for (const Range& range : order) {
      if (range.first > next) late_.push_back({next, range.first - next});
      next = range.first + range.count;
    }
    Real* const end = parameters_.gradients() + parameters_.size();
    if (end > next) late_.push_back({next, end - next});
  }

  /// Call when gradients are complete in the backward pass of a step's last batch: starts their sum.
  void complete(Range range) {
    if (next_ < early_.size() && range == early_[next_]) ++next_, begin(range);
  }

  /// Sums the remaining gradients and waits for all sums.
  void finish() {
    while (next_ < early_.size()) begin(early_[next_++]);  // if this rank had no batch
    for (const Range& range : late_) begin(range);
    next_ = 0;
    (void)parameters_.gradients();  // marks gradients as changed, also without a batch
    timed([&] {
      if constexpr (!kHost) communicator_.check_ranks();  // GPU waits have no timeout; host waits do
      communicator_.wait(stream());
    });
  }

  /// Gathers a sharded optimizer state; returns an unsharded one unchanged.
  std::vector<Real> whole(std::vector<Real> part) const {
    if (static_cast<Index>(part.size()) == parameters_.size()) return part;
    std::vector<Real> all(static_cast<std::size_t>(parameters_.size()));
    std::ranges::copy(part, all.begin() + first_of_share());
    broadcast_parts(all.data(), nullptr);
    return all;
  }

  /// Total seconds that this rank's host or GPU has waited for sums, excluding overlapped time.
  double seconds() const { return communicator_.takes_gpu_memory() ? communicator_.seconds_waited() : seconds_; }

 private:
  static constexpr bool kHost = std::is_same_v<typename Device::Memory, HostMemory>;

  /// Wraps a communicator that only accepts host memory, for a GPU.
  static std::unique_ptr<Communicator> through_host_of(Communicator& communicator, const Device& device) {
    if constexpr (kHost)
      return nullptr;
    else
      return communicator.takes_gpu_memory() || communicator.alone() ? nullptr : through_host(communicator, device);
  }

  void* stream() const {
    if constexpr (kHost)
      return nullptr;
    else
      return parameters_.device().stream();
  }

  void timed(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  bool shared(Range range) const {
    return std::ranges::any_of(parameters_.entries(), [&](const auto& entry) {
      const Real* at = parameters_.gradients() + entry.offset;
      return entry.shared && at >= range.first && at < range.first + range.count;
    });
  }

  /// The part of a rank; parts are equal up to the alignment of parameters.
  Range part_of(Index rank) const {
    const Index blocks = parameters_.size() / kParameterBlock;
    const Index from = blocks * rank / ranks() * kParameterBlock, to = blocks * (rank + 1) / ranks() * kParameterBlock;
    return {parameters_.gradients() + from, to - from};
  }

  /// Sends each rank's part of these numbers, one per number of the parameters, to all ranks.
  void broadcast_parts(Real* numbers, void* on) const {
    for (Index rank = 0; rank < ranks(); ++rank) {
      const Range part = part_of(rank);
      communicator_.begin_broadcast(rank, SharedNumbers(numbers + (part.first - parameters_.gradients()), part.count), on);
    }
    communicator_.wait(on);
  }

  void begin(Range range) {
    timed([&] {
      if (!sharded_) return communicator_.begin_sum(SharedNumbers(range.first, range.count), stream());
      for (Index rank = 0; rank < ranks(); ++rank) {
        const Range part = part_of(rank);
        Real* const first = std::max(range.first, part.first);
        Real* const last = std::min(range.first + range.count, part.first + part.count);
        if (first < last) communicator_.begin_sum_at(rank, SharedNumbers(first, last - first), stream());
      }
    });
  }

  void add_up(Real* number) {
    timed([&] {
      communicator_.begin_sum(SharedNumbers(number, 1), stream());
      communicator_.wait(stream());
    });
  }

  void gather_values() {
    timed([&] { broadcast_parts(parameters_.values(), stream()); });
    parameters_.device().zero(parameters_.gradients(), parameters_.size());
    parameters_.refresh();
  }

  std::unique_ptr<Communicator> through_host_;
  Communicator& communicator_;
  Parameters<Device>& parameters_;
  bool sharded_, overlap_;
  std::vector<Range> early_, late_;  // summed during the backward pass, in this order; summed after it
  std::size_t next_ = 0;             // index in early_ during a step
  double seconds_ = 0;
};

template <class Model>
DataParallel(Communicator&, Network<Model>&, DataParallelOptions = {}) -> DataParallel<typename Model::DeviceType>;

}  // namespace attn
