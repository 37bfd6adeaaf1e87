#pragma once
#include "attn/cpu/dropout.hpp"
#include "attn/ops/layer_norm.hpp"

namespace attn {

template <class T>
void layer_norm(Cpu<T>& device, const LayerNormArgs<Cpu<T>>& args) {
  const Index width = args.x.cols;
  device.parallel_ranges(args.x.rows, 16, [&](Index first, Index last, int thread) {
    T* buffer = device.workspace(thread, width);
    const auto gain = cpu::array(args.gain, width), bias = cpu::array(args.bias, args.center ? width : 0);
    for (Index i = first; i < last; ++i) {
      const T* row = args.x.row(i);
      if (!args.branch.empty()) {
        T* sum = (args.z.empty() ? args.y : args.z).row(i);
        std::copy_n(row, width, sum);
        cpu::drop_row(args.dropout, i, args.branch.row(i), sum, width, true, buffer);
        row = sum;
      }
      const auto z = cpu::array(row, width);
      const T mean = args.center ? z.mean() : T(0);
      const T inverse = 1 / std::sqrt((z - mean).square().mean() + T(args.epsilon));
      if (args.center)
        cpu::row_array(args.y, i) = (z - mean) * inverse * gain + bias;
      else
        cpu::row_array(args.y, i) = z * inverse * gain;
      args.mean[i] = mean;
      args.inverse_deviation[i] = inverse;
    }
  });
}

template <class T>
void layer_norm_gradient(Cpu<T>& device, const LayerNormGradientArgs<Cpu<T>>& args) {
  const Index width = args.z.cols;
  // dz = (g - mean(g) - x̂ mean(g x̂)) / deviation,  g = dy * gain,  x̂ = (z - mean) / deviation; without centring, mean(g)
  // and mean(z) are 0
  device.parallel_ranges(args.z.rows, 16, [&](Index first, Index last, int thread) {
    T* space = device.workspace(thread, 3 * width);
    auto g = cpu::array(space, width), normal = cpu::array(space + width, width);
    const auto gain = cpu::array(args.gain, width);
    for (Index i = first; i < last; ++i) {
      g = cpu::row_array(args.dy, i) * gain;
      normal = (cpu::row_array(args.z, i) - args.mean[i]) * args.inverse_deviation[i];
      const T mean = args.center ? g.mean() : T(0), slope = (g * normal).mean();
      g = (g - mean - normal * slope) * args.inverse_deviation[i];
      cpu::put(cpu::row_array(args.dx.to, i), g, args.dx.add);
      if (!args.dbranch.to.empty())
        cpu::drop_row(args.dropout, i, g.data(), args.dbranch.to.row(i), width, args.dbranch.add, space + 2 * width);
    }
  });
  device.parallel_ranges(width, 64, [&](Index first, Index last, int) {
    auto dgain = cpu::array(args.dgain + first, last - first),
         dbias = cpu::array(args.dbias + (args.center ? first : 0), args.center ? last - first : 0);
    for (Index i = 0; i < args.z.rows; ++i) {
      const auto dy = cpu::array(args.dy.row(i) + first, last - first), z = cpu::array(args.z.row(i) + first, last - first);
      dgain += dy * (z - args.mean[i]) * args.inverse_deviation[i];
      if (args.center) dbias += dy;
    }
  });
}

}  // namespace attn
