#pragma once
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/packed_linear.hpp"

namespace attn::cpu {

/// R of a recurrent layer, for z = h Rᵀ of some sentences on any thread. Uses the device's packed weights if it caches R.
/// Otherwise it fills panels in device.results().
template <class T>
class RecurrentWeights {
 public:
  RecurrentWeights(Cpu<T>& device, Matrix<const T> weights)
      : int8_(cached_int8(device, weights)), panels_(cached_panels(device, weights)) {}

  /// Scratch memory for this number of rows, in values; a multiple of a cache line.
  Index room(Index rows, Index depth) const { return int8_ == nullptr ? 0 : (Rows::bytes(rows, depth) + 63) / 64 * 16; }

  /// R in int8, or null.
  const Int8Weights<>* int8() const { return int8_; }

  /// z = h Rᵀ. `room` is scratch memory aligned to a cache line.
  void multiply(Matrix<const T> h, T* room, Matrix<T> z) const {
    if constexpr (std::is_same_v<T, float>) {
      if (int8_ != nullptr) {
        const Rows x(room, h.rows, h.cols);
        for (Index i = 0; i < h.rows; ++i) x.quantise_row(i, h.row(i), h.cols);
        return int8_->multiply(x, 0, 0, nullptr, false, z);
      }
    }
    clear(z);
    panels_.multiply(h, z);
  }

 private:
  using Rows = Int8Rows<Int8Lanes>;

  static const Int8Weights<>* cached_int8(Cpu<T>& device, Matrix<const T> weights) {
    if constexpr (std::is_same_v<T, float>)
      if (device.options().int8_weights) return device.weights().template find<Int8Weights<>>(weights);
    return nullptr;
  }
  Panels<T> cached_panels(Cpu<T>& device, Matrix<const T> weights) const {
    if (int8_ != nullptr) return {nullptr, 0, 0};
    if (!device.options().int8_weights)
      if (const auto* packed = device.weights().template find<PanelWeights<T>>(weights); packed != nullptr)
        return packed->panels(weights.rows);
    Panels<T> panels(device, weights.cols, weights.rows);
    panels.fill(device, weights, true);
    return panels;
  }

  const Int8Weights<>* int8_;
  Panels<T> panels_;
};

}  // namespace attn::cpu
