#pragma once
#include <memory>

#include "attn/cpu/argmax.hpp"
#include "attn/cpu/linear.hpp"
#include "attn/ops/linear_argmax.hpp"

namespace attn {

namespace cpu {

/// Argmax over outputs of int8 weights, without storing the outputs. Each thread takes some panels, in order, so ties go to
/// the first output.
inline void largest_int8(Cpu<float>& device, const LinearArgmaxArgs<Cpu<float>>& args, const Int8Weights<>& weights) {
  using Rows = Int8Rows<Int8Lanes>;
  using Largest = Int8Weights<>::Largest;
  constexpr Index kPanel = Int8Weights<>::kColumns;
  const Index rows = args.x.rows, depth = args.x.cols, classes = args.weight.rows;
  const Index panels = (classes + kPanel - 1) / kPanel, parts = std::clamp<Index>(panels, 1, device.threads());
  const auto space = static_cast<Index>(align_up(static_cast<std::size_t>(parts * rows) * sizeof(Largest)));
  float* const memory = device.results((space + Rows::bytes(rows, depth) + 3) / 4);
  auto* const largest = reinterpret_cast<Largest*>(memory);
  std::uninitialized_default_construct_n(largest, parts * rows);
  const Rows x(memory + space / 4, rows, depth);
  quantise_rows(device, args.x, x);
  device.parallel(parts, [&](Index part, int) {
    const Index left = panels * part / parts * kPanel, right = std::min(classes, panels * (part + 1) / parts * kPanel);
    weights.find_largest(x, 0, rows, left, right - left, args.bias, args.except, largest + part * rows);
  });
  for (Index i = 0; i < rows; ++i) {
    const Largest* best = largest + i;
    for (Index part = 1; part < parts; ++part)
      if (const Largest& other = largest[part * rows + i]; other.value > best->value) best = &other;
    const Index first = args.except == 0 && classes > 1 ? 1 : 0;  // if nothing exceeds -infinity
    args.best[i] = static_cast<Token>(best->first < 0 ? first : best->at());
  }
}

}  // namespace cpu

template <class T>
void linear_argmax(Cpu<T>& device, const LinearArgmaxArgs<Cpu<T>>& args) {
  if constexpr (std::is_same_v<T, float>)
    if (device.options().int8_weights)
      if (const auto* packed = device.weights().template find<cpu::Int8Weights<>>(args.weight); packed != nullptr)
        return cpu::largest_int8(device, args, *packed);
  linear(device, {.x = args.x, .weight = args.weight, .bias = args.bias, .y = args.logits});
  argmax(device, {.logits = args.logits, .best = args.best, .except = args.except});
}

}  // namespace attn
