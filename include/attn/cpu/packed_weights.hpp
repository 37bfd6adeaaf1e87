#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "attn/core/matrix.hpp"

namespace attn::cpu {

/// Weights that stay as they are, those of models made for inference, in the order and the precision in which products read
/// them: made at their first use and kept. Devices that run one model share it, so several threads may ask.
template <class T>
class PackedWeights {
 public:
  /// From now on these numbers stay as they are; what was made of what stood there before is forgotten.
  void hold(const T* values, Index count) {
    const std::lock_guard lock(mutex_);
    forget_range(values, count);
    if (count > 0) held_[values] = count;
  }

  /// These numbers may change, or their memory go.
  void forget(const T* values, Index count) {
    const std::lock_guard lock(mutex_);
    forget_range(values, count);
  }

  /// What was made of some weights, Packed(weights), or nothing where they are not held.
  template <class Packed>
  const Packed* find(Matrix<const T> weights) {
    const std::lock_guard lock(mutex_);
    auto range = held_.upper_bound(weights.data);
    if (range == held_.begin()) return nullptr;
    --range;
    if (weights.data + weights.rows * weights.cols > range->first + range->second || weights.stride != weights.cols)
      return nullptr;
    std::shared_ptr<const void>& entry = packed_[{weights.data, weights.rows}];
    if (entry == nullptr) entry = std::make_shared<const Packed>(weights);
    return static_cast<const Packed*>(entry.get());
  }

 private:
  void forget_range(const T* values, Index count) {
    held_.erase(values);
    packed_.erase(packed_.lower_bound({values, 0}), packed_.lower_bound({values + count, 0}));
  }

  std::mutex mutex_;
  std::map<const T*, Index> held_;                                            // where ranges begin, and how long they are
  std::map<std::pair<const T*, Index>, std::shared_ptr<const void>> packed_;  // where rows begin, and how many they are
};

}  // namespace attn::cpu
