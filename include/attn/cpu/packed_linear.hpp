#pragma once
#include "attn/cpu/bfloat16_tile.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/int8_weights.hpp"
#include "attn/cpu/panels.hpp"
#include "attn/ops/linear.hpp"

// linear with packed weights that the device keeps. A value's bits depend neither on the number of rows nor on the tiling.

namespace attn::cpu {

/// work(top, bottom, left, right, thread) over parts of a rows x cols result. Cuts columns at multiples of `panel`, or rows
/// if that gives too few parts.
template <class T, class Work>
void panel_parts(Cpu<T>& device, Index rows, Index cols, Index panel, const Work& work) {
  if (cols < panel * device.threads())
    device.parallel_ranges(rows, 8, [&](Index first, Index last, int thread) { work(first, last, 0, cols, thread); });
  else
    device.parallel_ranges(cols, panel, [&](Index first, Index last, int thread) { work(0, rows, first, last, thread); });
}

/// Packed weights in the device's precision.
template <class T>
class PanelWeights {
 public:
  explicit PanelWeights(Matrix<const T> weights)
      : depth_(weights.cols), values_(Panels<T>::size(weights.cols, weights.rows), "packed weights") {
    Panels<T>(values_.data(), depth_, weights.rows).fill(weights, true);
  }

  Panels<T> panels(Index outputs) const { return {values_.data(), depth_, outputs}; }

  void run(Cpu<T>& device, const LinearArgs<Cpu<T>>& args) const {
    constexpr Index kTogether = 60;  // rows that stay in the L2 cache for all panels
    const auto& y = args.y;
    panel_parts(device, y.rows, y.cols, Panels<T>::kColumns, [&](Index top, Index bottom, Index left, Index right, int) {
      const Panels<T> panels(values_.data() + left * depth_, depth_, right - left);
      for (Index i = top; i < bottom; i += kTogether) {
        const auto part = y.row_range(i, std::min(kTogether, bottom - i)).columns(left, right - left);
        if (args.bias == nullptr || depth_ == 0) start(part, args.bias == nullptr ? nullptr : args.bias + left);
        const Matrix<const T> base =
            args.bias != nullptr ? Matrix<const T>(args.bias + left, part.rows, part.cols, 0) : Matrix<const T>(part);
        panels.multiply(args.x.row_range(i, part.rows), part, 1, base);
        if (args.relu)
          for (Index r = 0; r < part.rows; ++r) row_array(part, r) = row_array(part, r).max(T(0));
      }
    });
  }

 private:
  static void start(Matrix<T> y, const T* bias) {
    for (Index i = 0; i < y.rows; ++i)
      bias == nullptr ? std::fill_n(y.row(i), y.cols, T(0)) : std::copy_n(bias, y.cols, y.row(i));
  }

  Index depth_;
  Buffer<T, HostMemory> values_;
};

/// Quantises the rows of x to int8.
inline void quantise_rows(Cpu<float>& device, Matrix<const float> x, const Int8Rows<Int8Lanes>& to) {
  const auto some = [&](Index first, Index last, int) {
    for (Index i = first; i < last; ++i) to.quantise_row(i, x.row(i), x.cols);
  };
  if (x.rows * x.cols < kWorthwhile)
    some(0, x.rows, 0);
  else
    device.parallel_ranges(x.rows, 1, some);
}

/// y = x Wᵀ + b with int8 weights and int8 rows of x.
inline void run_int8(Cpu<float>& device, const LinearArgs<Cpu<float>>& args, const Int8Weights<>& weights) {
  using Rows = Int8Rows<Int8Lanes>;
  const Index rows = args.x.rows, depth = args.x.cols;
  const Rows x(device.results((Rows::bytes(rows, depth) + 3) / 4), rows, depth);
  quantise_rows(device, args.x, x);
  panel_parts(device, rows, args.y.cols, Int8Weights<>::kColumns,
              [&](Index top, Index bottom, Index left, Index right, int) {
                weights.multiply(x, top, left, args.bias, args.relu,
                                 args.y.row_range(top, bottom - top).columns(left, right - left));
              });
}

#ifdef ATTN_BFLOAT16_PRODUCTS
/// Weights rounded to bfloat16.
class Bfloat16Weights {
 public:
  static constexpr Index kTogether = 64;  // rows packed at once
  explicit Bfloat16Weights(Matrix<const float> weights)
      : depth_(weights.cols), values_(Bfloat16Tile::size(weights.cols, weights.rows), "bf16 weights") {
    Bfloat16Tile::pack<false, true>(weights, values_.data());
  }

  void run(Cpu<float>& device, const LinearArgs<Cpu<float>>& args) const {
    panel_parts(device, args.y.rows, args.y.cols, 64, [&](Index top, Index bottom, Index left, Index right, int thread) {
      auto* space =
          reinterpret_cast<Bfloat16Tile::Value*>(device.workspace(thread, Bfloat16Tile::size(depth_, kTogether) / 2 + 1));
      for (Index i = top; i < bottom; i += kTogether) {
        const auto part = args.y.row_range(i, std::min(kTogether, bottom - i)).columns(left, right - left);
        for (Index r = 0; r < part.rows; ++r)
          args.bias == nullptr ? std::fill_n(part.row(r), part.cols, 0.0F)
                               : std::copy_n(args.bias + left, part.cols, part.row(r));
        Bfloat16Tile::pack<true, true>(args.x.row_range(i, part.rows), space);
        Bfloat16Tile::multiply(space, values_.data() + Bfloat16Tile::offset(depth_, left), depth_, part, 1, part);
        if (args.relu)
          for (Index r = 0; r < part.rows; ++r) row_array(part, r) = row_array(part, r).max(0.0F);
      }
    });
  }

 private:
  Index depth_;
  Buffer<Bfloat16Tile::Value, HostMemory> values_;
};
#endif

/// Computes linear with packed weights if the device caches them. Returns whether it did.
template <class T>
bool linear_packed(Cpu<T>& device, const LinearArgs<Cpu<T>>& args) {
  if constexpr (std::is_same_v<T, float>) {
    if (device.options().int8_weights) {
      const auto* packed = device.weights().template find<Int8Weights<>>(args.weight);
      if (packed != nullptr) run_int8(device, args, *packed);
      return packed != nullptr;
    }
#ifdef ATTN_BFLOAT16_PRODUCTS
    if (device.options().bfloat16_products) {
      const auto* packed = device.weights().template find<Bfloat16Weights>(args.weight);
      if (packed != nullptr) packed->run(device, args);
      return packed != nullptr;
    }
#endif
  }
  const auto* packed = device.weights().template find<PanelWeights<T>>(args.weight);
  if (packed != nullptr) packed->run(device, args);
  return packed != nullptr;
}

}  // namespace attn::cpu
