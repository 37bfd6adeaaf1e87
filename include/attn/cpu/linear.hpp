#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/gemm.hpp"
#include "attn/cpu/int8_weights.hpp"
#include "attn/cpu/tile.hpp"
#include "attn/ops/linear.hpp"

namespace attn::cpu {

/// work(part, top, left, thread) for parts of a result that start at row `top` and column `left`. Cuts rows or columns, at
/// multiples of their grain.
template <class T, class Work>
void for_each_part(Cpu<T>& device, const Matrix<T>& y, Index row_grain, Index col_grain, bool cut_rows, const Work& work) {
  if (cut_rows)
    device.parallel_ranges(y.rows, row_grain, [&](Index first, Index last, int thread) {
      work(y.row_range(first, last - first), first, Index{0}, thread);
    });
  else
    device.parallel_ranges(y.cols, col_grain, [&](Index first, Index last, int thread) {
      work(y.columns(first, last - first), Index{0}, first, thread);
    });
}
/// Cuts columns, or rows if that would give too few parts. Unless weights are packed, every task copies the columns that it
/// uses into panels; it reads rows in place.
template <class T, class Work>
void for_each_part(Cpu<T>& device, const Matrix<T>& y, Index row_grain, Index col_grain, const Work& work) {
  for_each_part(device, y, row_grain, col_grain, y.cols < col_grain * device.threads(), work);
}

// Packed weights that the device keeps. A value's bits depend neither on the number of rows nor on the tiling.

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
    for_each_part(device, args.y, 8, Panels<T>::kColumns, [&](const Matrix<T>& y, Index top, Index left, int) {
      const Panels<T> panels(values_.data() + left * depth_, depth_, y.cols);
      for (Index i = 0; i < y.rows; i += kTogether) {
        const auto part = y.row_range(i, std::min(kTogether, y.rows - i));
        if (args.bias == nullptr || depth_ == 0) start(part, args.bias == nullptr ? nullptr : args.bias + left);
        const Matrix<const T> base =
            args.bias != nullptr ? Matrix<const T>(args.bias + left, part.rows, part.cols, 0) : Matrix<const T>(part);
        panels.multiply(args.x.row_range(top + i, part.rows), part, 1, base);
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
  for_each_part(device, args.y, 8, Int8Weights<>::kColumns, [&](const Matrix<float>& y, Index top, Index left, int) {
    weights.multiply(x, top, left, args.bias, args.relu, y);
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
    for_each_part(device, args.y, 8, 64, [&](const Matrix<float>& y, Index top, Index left, int thread) {
      auto* space =
          reinterpret_cast<Bfloat16Tile::Value*>(device.workspace(thread, Bfloat16Tile::size(depth_, kTogether) / 2 + 1));
      for (Index i = 0; i < y.rows; i += kTogether) {
        const auto part = y.row_range(i, std::min(kTogether, y.rows - i));
        for (Index r = 0; r < part.rows; ++r)
          args.bias == nullptr ? std::fill_n(part.row(r), part.cols, 0.0F)
                               : std::copy_n(args.bias + left, part.cols, part.row(r));
        Bfloat16Tile::pack<true, true>(args.x.row_range(top + i, part.rows), space);
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

/// sums += the sum of the rows of a matrix.
template <class T>
void add_rows(Cpu<T>& device, Matrix<const T> x, T* sums) {
  device.parallel_ranges(x.cols, 64, [&](Index first, Index last, int) {
    auto sum = array(sums + first, last - first);
    for (Index i = 0; i < x.rows; ++i) sum += array(x.row(i) + first, last - first);
  });
}

}  // namespace attn::cpu

namespace attn {

template <class T>
void linear(Cpu<T>& device, const LinearArgs<Cpu<T>>& args) {
  if (cpu::linear_packed(device, args)) return;
  cpu::for_each_part(device, args.y, 20, 32, [&](const Matrix<T>& y, Index top, Index left, int thread) {
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
  cpu::for_each_part(device, args.dx.to, 20, 32, [&](const Matrix<T>& dx, Index top, Index left, int thread) {
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
  const bool tall = args.dweight.rows >= args.dweight.cols;  // the left side is transposed, so its rows are copied as well
  cpu::for_each_part(device, args.dweight, 20, 32, tall, [&](const Matrix<T>& dweight, Index top, Index left, int thread) {
    cpu::gemm<true, false>(device, thread, args.dy.columns(top, dweight.rows), args.x.columns(left, dweight.cols), dweight);
  });
  if (args.dbias) cpu::add_rows<T>(device, args.dy, args.dbias);
}

}  // namespace attn
