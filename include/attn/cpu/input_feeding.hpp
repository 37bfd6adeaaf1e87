#pragma once
#include "attn/cpu/attention.hpp"
#include "attn/cpu/lstm.hpp"
#include "attn/ops/lstm.hpp"

// Sentences are independent: each thread takes some of them through all steps, as in cpu/lstm.hpp.

namespace attn {

namespace cpu {

/// All weights of the op, or the transposed ones: input and recurrent weights of each layer, then `mix`. In panels in the
/// device's results memory.
template <class T>
std::vector<Panels<T>> feeding_panels(Cpu<T>& device, const InputFeedingArgs<Cpu<T>>& args, bool transposed) {
  std::vector<Matrix<const T>> weights;
  for (int l = 0; l < args.layers; ++l) weights.insert(weights.end(), {args.layer[l].input, args.layer[l].recurrent});
  weights.push_back(args.mix);
  Index size = 0;
  const auto depth = [=](const Matrix<const T>& weight) { return transposed ? weight.cols : weight.rows; };
  const auto cols = [=](const Matrix<const T>& weight) { return transposed ? weight.rows : weight.cols; };
  for (const auto& weight : weights) size += Panels<T>::size(depth(weight), cols(weight));
  T* memory = device.results(size);
  std::vector<Panels<T>> panels;
  for (const auto& weight : weights) {
    panels.emplace_back(memory, depth(weight), cols(weight)).fill(device, weight, transposed);
    memory += Panels<T>::size(depth(weight), cols(weight));
  }
  return panels;
}

/// Cuts matrices from one piece of a thread's memory. Each row starts on a 64-byte boundary. Eigen computes values before a
/// boundary with other instructions, so bits would otherwise depend on the layout of the memory.
template <class T>
struct Carving {
  static constexpr Index stride(Index cols) {
    return (cols + 64 / Index{sizeof(T)} - 1) / (64 / Index{sizeof(T)}) * (64 / Index{sizeof(T)});
  }

  T* next;
  Matrix<T> operator()(Index rows, Index cols) {
    const Matrix<T> matrix(next, rows, cols, stride(cols));
    next += rows * matrix.stride;
    return matrix;
  }
};

/// Computes the context of one state and the log-sum-exp of its scores.
template <class T>
void feeding_attention(Cpu<T>& device, int thread, const InputFeedingArgs<Cpu<T>>& args, Index sentence, Index row,
                       Matrix<T> weights) {
  const Index first = args.source.begin[sentence], count = args.source.length(sentence), width = args.width();
  const Matrix<T> p = weights.columns(0, count), c = args.seen.row_range(row, 1).columns(width, args.values.cols);
  clear(c);
  clear(p);
  gemm<false, true>(device, thread, Matrix<const T>(args.seen.row_range(row, 1).columns(0, width)),
                    args.keys.row_range(first, count), p, T(args.scale));
  args.lse[row] = softmax_in_place(p.data, count);
  if (count > 0) gemm(device, thread, Matrix<const T>(p), args.values.row_range(first, count), c);
}

/// dh += the gradient of the state through its scores.
template <class T>
void feeding_attention_gradient(Cpu<T>& device, int thread, const InputFeedingGradientArgs<Cpu<T>>& args, Index sentence,
                                Index row, Matrix<T> dh, Matrix<T> weights) {
  const InputFeedingArgs<Cpu<T>>& f = args.forward;
  const Index first = f.source.begin[sentence], count = f.source.length(sentence);
  if (count == 0) return;
  const Matrix<T> p = weights.row_range(0, 1).columns(0, count), dp = weights.row_range(1, 1).columns(0, count);
  const auto keys = f.keys.row_range(first, count);
  clear(p);
  clear(dp);
  gemm<false, true>(device, thread, Matrix<const T>(f.seen.row_range(row, 1).columns(0, f.width())), keys, p, T(f.scale));
  gemm<false, true>(device, thread, Matrix<const T>(args.dcontext.row_range(row, 1)), f.values.row_range(first, count), dp);
  auto weight = array(p.data, count);
  const auto dweight = array(dp.data, count);
  weight = (weight - f.lse[row]).exp();
  weight *= dweight - (weight * dweight).sum();
  gemm(device, thread, Matrix<const T>(p), keys, dh, T(f.scale));
}

}  // namespace cpu

template <class T>
void input_feeding(Cpu<T>& device, const InputFeedingArgs<Cpu<T>>& args) {
  const Index width = args.width(), layers = args.layers;
  const auto panels = cpu::feeding_panels(device, args, true);
  cpu::lstm_groups(device, args.rows, args.order, false, [&](const cpu::LstmGroup& group, int thread) {
    const Index count = group.count(), in = args.mix.cols;
    const auto padded = cpu::Carving<T>::stride;
    cpu::Carving<T> carve{device.workspace(thread,
                                           count * (padded(4 * width) + (1 + 2 * layers) * padded(width) + padded(in)) +
                                               padded(args.source.longest) + padded(width),
                                           1)};
    const auto z = carve(count, 4 * width), x = carve(count, in), fed = carve(count, width);  // x: input of a product
    const auto h = carve(layers * count, width), c = carve(layers * count, width);            // of each layer
    const auto weights = carve(1, args.source.longest);
    T* buffer = carve(1, width).data;
    for (const auto& zeros : {fed, h, c}) cpu::clear(zeros);
    Index active = count;
    for (Index t = 0; t < group.length(0); ++t) {
      while (group.length(active - 1) <= t) --active;
      for (int l = 0; l < layers; ++l) {
        const InputFeedingLayer<Cpu<T>>& layer = args.layer[l];
        const auto state = h.row_range(l * count, count), cell = c.row_range(l * count, count);
        const auto below = x.columns(0, width);
        for (Index i = 0; i < active; ++i) {
          const Index row = group.row(i, t);
          const T* read = l == 0 ? fed.row(i) : h.row((l - 1) * count + i);
          cpu::drop_row(layer.dropout, row, read, below.row(i), width, false, buffer);
          std::copy_n(below.row(i), width, layer.below.row(row));
          std::copy_n(state.row(i), width, layer.before.row(row));
          if (layer.bias != nullptr) std::copy_n(layer.bias, 4 * width, layer.gates.row(row));
        }
        cpu::clear(z.row_range(0, active));
        if (l > 0 || t > 0) panels[static_cast<std::size_t>(2 * l)].multiply(below.row_range(0, active), z);
        if (t > 0) panels[static_cast<std::size_t>(2 * l + 1)].multiply(state.row_range(0, active), z);
        for (Index i = 0; i < active; ++i) {
          const Index row = group.row(i, t);
          cpu::lstm_row(width, z.row(i), layer.gates.row(row), state.row(i), cell.row(i));
          std::copy_n(cell.row(i), width, layer.c.row(row));
        }
      }
      for (Index i = 0; i < active; ++i) {
        const Index row = group.row(i, t);
        std::copy_n(h.row((layers - 1) * count + i), width, args.seen.row(row));
        cpu::feeding_attention(device, thread, args, group.sentence(i), row, weights);
        std::copy_n(args.seen.row(row), in, x.row(i));
      }
      cpu::clear(fed.row_range(0, active));
      panels.back().multiply(x.row_range(0, active), fed);
      for (Index i = 0; i < active; ++i) {
        const Index row = group.row(i, t);
        cpu::for_each_pack<T>(width, [at = fed.row(i)](Index j, const auto& lanes) {
          lanes.store(at + j, cpu::gate_tanh(lanes.load(at + j)));
        });
        cpu::drop_row(args.dropout, row, fed.row(i), fed.row(i), width, false, buffer);
        std::copy_n(fed.row(i), width, args.fed.row(row));
      }
    }
  });
}

template <class T>
void input_feeding_gradient(Cpu<T>& device, const InputFeedingGradientArgs<Cpu<T>>& args) {
  const InputFeedingArgs<Cpu<T>>& f = args.forward;
  const Index width = f.width(), layers = f.layers;
  const auto panels = cpu::feeding_panels(device, f, false);
  cpu::lstm_groups(device, f.rows, f.order, false, [&](const cpu::LstmGroup& group, int thread) {
    const Index count = group.count(), in = f.mix.cols;
    const auto padded = cpu::Carving<T>::stride;
    cpu::Carving<T> carve{device.workspace(thread,
                                           count * (padded(4 * width) + (3 + 2 * layers) * padded(width) + padded(in)) +
                                               2 * padded(f.source.longest) + padded(width),
                                           1)};
    const auto dgates = carve(count, 4 * width), dfed = carve(count, width), dmix = carve(count, width);
    const auto dbelow = carve(count, width), dseen = carve(count, in);
    const auto dh = carve(layers * count, width), dc = carve(layers * count, width);  // of each layer, from the next step
    const auto weights = carve(2, f.source.longest);
    T* buffer = carve(1, width).data;
    for (const auto& zeros : {dfed, dh, dc}) cpu::clear(zeros);
    Index active = 0;
    for (Index t = group.length(0) - 1; t >= 0; --t) {
      while (active < count && group.length(active) > t) ++active;
      for (Index i = 0; i < active; ++i) {
        const Index row = group.row(i, t);
        if (!args.dfed.empty()) cpu::row_array(dfed, i) += cpu::row_array(args.dfed, row);
        cpu::drop_row(f.dropout, row, dfed.row(i), dmix.row(i), width, false, buffer);
        // Kept values are a / (1 - rate). The gradients of dropped values are already 0.
        const auto a = cpu::row_array(f.fed, row) / T(f.dropout.scale());
        cpu::row_array(dmix, i) *= 1 - a * a;
        std::copy_n(dmix.row(i), width, args.dmix.row(row));
      }
      cpu::clear(dseen.row_range(0, active));
      panels.back().multiply(dmix.row_range(0, active), dseen);
      auto top = dh.row_range((layers - 1) * count, count);
      for (Index i = 0; i < active; ++i) {
        const Index row = group.row(i, t);
        cpu::array(args.dcontext.row(row), in - width) += cpu::array(dseen.row(i) + width, in - width);
        cpu::row_array(top, i) += cpu::array(dseen.row(i), width);
        cpu::feeding_attention_gradient(device, thread, args, group.sentence(i), row, top.row_range(i, 1), weights);
      }
      for (int l = f.layers - 1; l >= 0; --l) {
        const InputFeedingLayer<Cpu<T>>& layer = f.layer[l];
        const auto dstate = dh.row_range(l * count, count), dcell = dc.row_range(l * count, count);
        for (Index i = 0; i < active; ++i) {
          const Index row = group.row(i, t);
          cpu::lstm_row_gradient<T>(width, layer.gates.row(row), t > 0 ? layer.c.row(group.row(i, t - 1)) : nullptr,
                                    layer.c.row(row), nullptr, dstate.row(i), dcell.row(i), dgates.row(i));
          std::copy_n(dgates.row(i), 4 * width, layer.gates.row(row));
        }
        const auto to = l == 0 ? dfed : dbelow;
        cpu::clear(to.row_range(0, active));
        if (l > 0 || t > 0) panels[static_cast<std::size_t>(2 * l)].multiply(dgates.row_range(0, active), to);
        cpu::clear(dstate.row_range(0, active));
        if (t > 0) panels[static_cast<std::size_t>(2 * l + 1)].multiply(dgates.row_range(0, active), dstate);
        for (Index i = 0; i < active && l > 0; ++i)
          cpu::drop_row(layer.dropout, group.row(i, t), dbelow.row(i), dh.row((l - 1) * count + i), width, true, buffer);
      }
    }
  });
}

}  // namespace attn
