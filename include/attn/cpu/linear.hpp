#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/gemm.hpp"
#include "attn/cpu/int8_weights.hpp"
#include "attn/cpu/tile.hpp"
#include "attn/ops/linear.hpp"
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
#include "attn/cpu/bfloat16_product.hpp"
#endif

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

#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
/// Weights rounded to bfloat16.
class Bfloat16Weights {
 public:
  static constexpr Index kTogether = 64;  // rows packed at once
  explicit Bfloat16Weights(Matrix<const float> weights)
      : depth_(weights.cols), values_(size(weights.rows, weights.cols), "bf16 weights") {
    Bfloat16Tile::pack_rows(weights, values_.data());
  }

  void run(Cpu<float>& device, const LinearArgs<Cpu<float>>& args) const {
    panel_parts(device, args.y.rows, args.y.cols, 64, [&](Index top, Index bottom, Index left, Index right, int thread) {
      auto* space = reinterpret_cast<bfloat16_t*>(device.workspace(thread, size(kTogether, depth_) / 2 + 1));
      for (Index i = top; i < bottom; i += kTogether) {
        const auto part = args.y.row_range(i, std::min(kTogether, bottom - i)).columns(left, right - left);
        for (Index r = 0; r < part.rows; ++r)
          args.bias == nullptr ? std::fill_n(part.row(r), part.cols, 0.0F)
                               : std::copy_n(args.bias + left, part.cols, part.row(r));
        Bfloat16Tile::pack_rows(args.x.row_range(i, part.rows), space);
        Bfloat16Tile::multiply(space, values_.data() + Bfloat16Tile::offset(depth_, left), depth_, part, 1, part);
        if (args.relu)
          for (Index r = 0; r < part.rows; ++r) row_array(part, r) = row_array(part, r).max(0.0F);
      }
    });
  }

 private:
  static Index size(Index lines, Index depth) { return Bfloat16Tile::offset(depth, lines + lines % 2); }

  Index depth_;
  Buffer<bfloat16_t, HostMemory> values_;
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
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
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

namespace attn {

namespace cpu {

/// work(top, bottom, left, right, thread) over tiles of a rows x cols result. Cuts the side that needs less copying: every
/// task that uses columns of the right side copies them into panels. Rows of the left side are only copied if transposed.
template <bool TransposeA = false, class T, class Work>
void tiles(Cpu<T>& device, Index rows, Index cols, const Work& work) {
  if (TransposeA ? rows >= cols : cols < 32 * device.threads())
    device.parallel_ranges(rows, 20, [&](Index first, Index last, int thread) { work(first, last, 0, cols, thread); });
  else
    device.parallel_ranges(cols, 32, [&](Index first, Index last, int thread) { work(0, rows, first, last, thread); });
}

/// sums += the sum of the rows of a matrix.
template <class T>
void add_rows(Cpu<T>& device, Matrix<const T> x, T* sums) {
  device.parallel_ranges(x.cols, 64, [&](Index first, Index last, int) {
    auto sum = array(sums + first, last - first);
    for (Index i = 0; i < x.rows; ++i) sum += array(x.row(i) + first, last - first);
  });
}

}  // namespace cpu

template <class T>
void linear(Cpu<T>& device, const LinearArgs<Cpu<T>>& args) {
  if (cpu::linear_packed(device, args)) return;
  cpu::tiles(device, args.y.rows, args.y.cols, [&](Index top, Index bottom, Index left, Index right, int thread) {
    const auto y = args.y.row_range(top, bottom - top).columns(left, right - left);
    if (!args.bias) cpu::clear(y);
    const Matrix<const T> base = args.bias ? Matrix<const T>(args.bias + left, y.rows, y.cols, 0) : Matrix<const T>(y);
    cpu::gemm_from<false, true, T>(base, device, thread, args.x.row_range(top, y.rows), args.weight.row_range(left, y.cols),
                                   y, T(1), args.y.rows);
    if (args.relu)
      for (Index i = 0; i < y.rows; ++i) cpu::row_array(y, i) = cpu::row_array(y, i).max(T(0));
  });
}

template <class T>
void linear_input_gradient(Cpu<T>& device, const LinearInputGradientArgs<Cpu<T>>& args) {
  cpu::tiles(device, args.dx.to.rows, args.dx.to.cols, [&](Index top, Index bottom, Index left, Index right, int thread) {
    const auto dx = args.dx.to.row_range(top, bottom - top).columns(left, right - left);
    if (!args.dx.add) cpu::clear(dx);
    cpu::gemm(device, thread, args.dy.row_range(top, dx.rows), args.weight.columns(left, dx.cols), dx, T(args.scale),
              args.dx.to.rows);
    if (args.gate.empty()) return;
    const auto gate = args.gate.row_range(top, dx.rows).columns(left, dx.cols);
    for (Index i = 0; i < dx.rows; ++i)
      cpu::row_array(dx, i) = (cpu::row_array(gate, i) > T(0)).select(cpu::row_array(dx, i), T(0));
  });
  if (!args.gate.empty() && args.sums) cpu::add_rows<T>(device, args.dx.to, args.sums);
}

template <class T>
void linear_weight_gradient(Cpu<T>& device, const LinearWeightGradientArgs<Cpu<T>>& args) {
  cpu::tiles<true>(device, args.dweight.rows, args.dweight.cols,
                   [&](Index top, Index bottom, Index left, Index right, int thread) {
                     const auto dweight = args.dweight.row_range(top, bottom - top).columns(left, right - left);
                     cpu::gemm<true, false>(device, thread, args.dy.columns(top, dweight.rows),
                                            args.x.columns(left, dweight.cols), dweight);
                   });
  if (args.dbias) cpu::add_rows<T>(device, args.dy, args.dbias);
}

}  // namespace attn
