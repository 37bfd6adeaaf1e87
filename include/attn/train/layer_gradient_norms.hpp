#pragma once
#include "attn/parallel/data_parallel.hpp"
#include "attn/train/callback.hpp"

namespace attn {

/// The layer of a parameter: its name up to the first number, as in encoder.layers.0, or without its last part.
inline std::string layer_of(const std::string& name) {
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] >= '0' && name[i] <= '9' && (i == 0 || name[i - 1] == '.')) return name.substr(0, name.find('.', i));
  return name.substr(0, name.rfind('.'));
}

/// The gradient norm of each layer, without frozen parameters. The device computes the sums of squares.
template <class Device>
class LayerGradientNorms {
  const Parameters<Device>& parameters_;
  UpdateShare<Device> share_;
  Buffer<typename Device::Real, typename Device::Memory> sums_;  // of squares, one per parameter; 0 outside of the share

 public:
  LayerGradientNorms(Parameters<Device>& parameters, const UpdateShare<Device>& share)
      : parameters_(parameters), share_(share.of(parameters)) {
    sums_ = optimiser_state(parameters, std::ssize(parameters.entries()));
  }
  /// Call before the optimiser's step, which clears the gradients. Does not wait for the device.
  void compute() {
    for (Index i = 0; i < sums_.size(); ++i) {
      const auto& entry = parameters_.entries()[static_cast<std::size_t>(i)];
      const Index first = std::max(entry.offset, share_.first);
      const Index count = std::min(entry.offset + entry.size(), share_.first + share_.count) - first;
      if (count > 0) sum_of_squares(parameters_.device(), {parameters_.step_gradients() + first, count, sums_.data() + i});
    }
  }
  /// The norms of the last step, by layer. Ranks that shard the optimiser add up the sums of their shares.
  std::map<std::string, double> read(Communicator* ranks) const {
    std::vector<typename Device::Real> squares(parameters_.entries().size());
    parameters_.device().download(squares.data(), sums_.data(), sums_.size());
    std::vector<double> sums(squares.begin(), squares.end());
    if (share_.add_up) ranks->sum(sums.data(), sums_.size());
    std::map<std::string, double> norms;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (const auto& entry = parameters_.entries()[i]; !entry.frozen) norms[layer_of(entry.name)] += sums[i];
    for (auto& [layer, norm] : norms) norm = std::sqrt(norm);
    return norms;
  }
};

}  // namespace attn
