#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <typeindex>

#include "attn/core/matrix.hpp"

namespace attn::cpu {

/// Packed copies of constant weights (of inference models), in the order and precision that products read. Packs at first
/// use. Thread-safe, because devices that run one model share it.
template <class T>
class PackedWeights {
 public:
  /// Declares these numbers constant. Drops packed copies of earlier contents.
  void cache(const T* values, Index count) {
    const std::lock_guard lock(mutex_);
    forget_range(values, count);
    if (count > 0) cached_[values] = count;
  }

  /// Allows these numbers to change or to be freed.
  void forget(const T* values, Index count) {
    const std::lock_guard lock(mutex_);
    forget_range(values, count);
  }

  /// Packed(weights), made at the first call; null if the weights are not cached.
  template <class Packed>
  const Packed* find(Matrix<const T> weights) {
    const std::lock_guard lock(mutex_);
    auto range = cached_.upper_bound(weights.data);
    if (range == cached_.begin()) return nullptr;
    --range;
    if (weights.data + weights.rows * weights.cols > range->first + range->second || weights.stride != weights.cols)
      return nullptr;
    std::shared_ptr<const void>& entry = packed_[{weights.data, weights.rows, typeid(Packed)}];
    if (entry == nullptr) entry = std::make_shared<const Packed>(weights);
    return static_cast<const Packed*>(entry.get());
  }

 private:
  void forget_range(const T* values, Index count) {
    cached_.erase(values);
    const auto first = [&](const T* at) { return packed_.lower_bound({at, -1, typeid(void)}); };
    packed_.erase(first(values), first(values + count));
  }

  std::mutex mutex_;
  std::map<const T*, Index> cached_;  // begin and length of ranges
  std::map<std::tuple<const T*, Index, std::type_index>, std::shared_ptr<const void>>
      packed_;  // by first value, rows, type
};

}  // namespace attn::cpu
