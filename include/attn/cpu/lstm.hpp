#pragma once
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/linear.hpp"
#include "attn/cpu/pack.hpp"
#include "attn/ops/lstm.hpp"

// Sentences are independent, so each thread takes some of them from start to end without synchronisation.

namespace attn {

namespace cpu {

/// Every stride-th sentence of the order. All threads get long and short ones, and the active ones are still a prefix.
struct LstmGroup {
  const Ragged& rows;
  const std::int32_t* order;
  bool reverse;
  Index first, stride;

  Index count() const { return (rows.count - first + stride - 1) / stride; }
  Index sentence(Index i) const { return order[first + i * stride]; }
  Index length(Index i) const { return rows.length(sentence(i)); }
  /// The row of sentence i at step t.
  Index row(Index i, Index t) const {
    const Index s = sentence(i);
    return reverse ? rows.end[s] - 1 - t : rows.begin[s] + t;
  }
};

inline constexpr Index kLstmSentences = 48;  // maximum per group: a step's values stay in the nearest caches

/// work(group, thread) for groups that together contain all sentences.
template <class T, class Work>
void lstm_groups(Cpu<T>& device, const Ragged& rows, const std::int32_t* order, bool reverse, const Work& work) {
  const Index threads = device.threads(), most = kLstmSentences * threads;
  const Index groups = std::min(rows.count, (rows.count + most - 1) / most * threads);
  device.parallel(groups, [&](Index first, int thread) { work(LstmGroup{rows, order, reverse, first, groups}, thread); });
}

template <class T>
T* row_or_none(const Matrix<T>& matrix, Index i) {
  return matrix.empty() ? nullptr : matrix.row(i);
}

/// Copies the states of a group's sentences, or zeros if there are none.
template <class T>
void load_states(const LstmGroup& group, const Matrix<const T>& states, const Matrix<T>& to) {
  if (states.empty()) return clear(to);
  for (Index i = 0; i < to.rows; ++i) std::copy_n(states.row(group.sentence(i)), to.cols, to.row(i));
}

/// tanh and sigmoid of gates: without the special values of Pack::tanh, which cost time.
template <class T>
Pack<T> gate_tanh(const Pack<T>& x) {
  if constexpr (Pack<T>::Traits::HasTanh)
    return Eigen::internal::ptanh(x.packet);
  else
    return Pack<T>(1) - Pack<T>(2) / (Pack<T>(1) + Pack<T>(Eigen::internal::pexp((x + x).packet)));
}
template <class T>
Pack<T> gate_sigmoid(const Pack<T>& x) {
  const Pack<T> half(0.5);
  if constexpr (Pack<T>::Traits::HasTanh)
    return Pack<T>::multiply_add(gate_tanh(x * half), half, half);
  else
    return Pack<T>(1) / (Pack<T>(1) + Pack<T>(Eigen::internal::pexp((-x).packet)));
}

template <class T>
Pack<T> load_or_zero(const T* row, Index j, const auto& lanes) {
  return row == nullptr ? Pack<T>(0) : lanes.load(row + j);
}

/// The inputs and outputs of a step for one row. A null input is 0; a null output is not written.
template <class T>
struct LstmCells {
  const T *z, *gates, *c_before;  // z = h' Rᵀ; z and gates hold 4 gates each
  T *activated, *h, *last_h, *c;

  /// Computes units `first` to `last` - 1 of `width`. Outputs may alias inputs.
  void run(Index first, Index last, Index width) const {
    for_each_pack<T>(last - first, [=, this](Index at, const auto& lanes) {
      const Index j = first + at;
      const auto gate = [&](Index k) { return lanes.load(gates + k * width + j) + lanes.load(z + k * width + j); };
      const Pack<T> i = gate_sigmoid(gate(0)), f = gate_sigmoid(gate(1)), g = gate_tanh(gate(2)), o = gate_sigmoid(gate(3));
      const Pack<T> state = Pack<T>::multiply_add(f, load_or_zero(c_before, j, lanes), i * g), out = o * gate_tanh(state);
      if (activated != nullptr) {
        lanes.store(activated + j, i);
        lanes.store(activated + width + j, f);
        lanes.store(activated + 2 * width + j, g);
        lanes.store(activated + 3 * width + j, o);
      }
      if (c != nullptr) lanes.store(c + j, state);
      if (last_h != nullptr) lanes.store(last_h + j, out);
      lanes.store(h + j, out);
    });
  }
};

/// One row's step after the product z = h' Rᵀ. Updates h and c in place.
template <class T>
void lstm_row(Index width, const T* z, T* gates, T* h, T* c, bool keep = true) {
  LstmCells<T>{z, gates, c, keep ? gates : nullptr, h, nullptr, c}.run(0, width, width);
}

/// One row's gradient. dh and dc are its states' gradients from later steps. dc becomes that of the previous c.
template <class T>
void lstm_row_gradient(Index width, const T* gates, const T* c_before, const T* c, const T* dy, const T* dh, T* dc,
                       T* dgates) {
  for_each_pack<T>(width, [=](Index j, const auto& lanes) {
    const auto slope = [](const Pack<T>& a, const Pack<T>& b) { return a - a * b; };  // a (1 - b)
    const Pack<T> i = lanes.load(gates + j), f = lanes.load(gates + width + j), g = lanes.load(gates + 2 * width + j),
                  o = lanes.load(gates + 3 * width + j), squashed = gate_tanh(lanes.load(c + j));
    const Pack<T> dstate = load_or_zero(dy, j, lanes) + lanes.load(dh + j);
    const Pack<T> dcell = Pack<T>::multiply_add(dstate * o, Pack<T>(1) - squashed * squashed, lanes.load(dc + j));
    lanes.store(dgates + j, dcell * g * slope(i, i));
    lanes.store(dgates + width + j, dcell * load_or_zero(c_before, j, lanes) * slope(f, f));
    lanes.store(dgates + 2 * width + j, dcell * i * (Pack<T>(1) - g * g));
    lanes.store(dgates + 3 * width + j, dstate * squashed * slope(o, o));
    lanes.store(dc + j, dcell * f);
  });
}

/// One step of sentences with one row each, without keeping anything: states are read and written in place. Each thread
/// takes some sentences. If R is too large for one core's cache, each thread takes some units of all sentences, and reads
/// only their rows of R.
template <class T>
void lstm_one_step(Cpu<T>& device, const LstmArgs<Cpu<T>>& args, const RecurrentWeights<T>& recurrent) {
  const Index width = args.h.cols;
  const auto step = [&](Index s, const T* z, Index first, Index last) {
    const Index row = args.rows.begin[s];
    LstmCells<T>{.z = z,
                 .gates = args.gates.row(row),
                 .c_before = row_or_none(args.c0, s),
                 .activated = nullptr,
                 .h = args.h.row(row),
                 .last_h = row_or_none(args.last_h, s),
                 .c = row_or_none(args.last_c, s)}
        .run(first, last, width);
  };
  if constexpr (std::is_same_v<T, float>) {
    constexpr Index kLarge = 1 << 20, kPanel = Int8Weights<>::kColumns;
    const Int8Weights<>* int8 = recurrent.int8();
    if (int8 != nullptr && device.threads() > 1 && int8->bytes() >= kLarge && width % kPanel == 0) {
      const Index scratch = recurrent.room(args.h0.rows, width);
      float* const memory = device.results(scratch + args.h0.rows * 4 * width);
      const Int8Rows<Int8Lanes> x(memory, args.h0.rows, width);
      const Matrix<float> z(memory + scratch, args.h0.rows, 4 * width);
      quantise_rows(device, args.h0, x);
      return device.parallel_ranges(width, kPanel, [&](Index first, Index last, int) {
        for (Index gate = 0; gate < 4 * width; gate += width)
          int8->multiply(x, 0, gate + first, nullptr, false, z.columns(gate + first, last - first));
        for (Index s = 0; s < z.rows; ++s) step(s, z.row(s), first, last);
      });
    }
  }
  device.parallel_ranges(args.rows.count, 1, [&](Index first, Index last, int thread) {
    const Index count = last - first, scratch = recurrent.room(count, width);
    T* const room = device.workspace(thread, scratch + count * 4 * width, 1);
    const Matrix<T> z(room + scratch, count, 4 * width);
    recurrent.multiply(args.h0.row_range(first, count), room, z);
    for (Index i = 0; i < count; ++i) step(first + i, z.row(i), 0, width);
  });
}

}  // namespace cpu

template <class T>
void lstm(Cpu<T>& device, const LstmArgs<Cpu<T>>& args) {
  const Index width = args.h.cols;
  std::optional<cpu::RecurrentWeights<T>> recurrent;  // none if no step has a previous state
  if (args.rows.longest > 1 || !args.h0.empty()) recurrent.emplace(device, args.recurrent);
  if (!args.keep && !args.h0.empty() && args.rows.longest == 1 && args.rows.rows == args.rows.count)
    return cpu::lstm_one_step(device, args, *recurrent);
  cpu::lstm_groups(device, args.rows, args.order, args.reverse, [&](const cpu::LstmGroup& group, int thread) {
    const Index count = group.count();
    const Index scratch = recurrent ? recurrent->room(count, width) : 0;
    T* const room = device.workspace(thread, scratch + 6 * count * width, 1);
    T* const space = room + scratch;
    const Matrix<T> z(space, count, 4 * width);  // h Rᵀ
    const Matrix<T> h(space + 4 * count * width, count, width), c(space + 5 * count * width, count, width);
    cpu::load_states(group, args.h0, h);
    cpu::load_states(group, args.c0, c);
    Index active = count;
    for (Index t = 0; t < group.length(0); ++t) {
      while (group.length(active - 1) <= t) --active;
      if (t > 0 || !args.h0.empty())
        recurrent->multiply(h.row_range(0, active), room, z.row_range(0, active));
      else
        cpu::clear(z.row_range(0, active));
      for (Index i = 0; i < active; ++i) {
        const Index row = group.row(i, t);
        if (args.keep) std::copy_n(h.row(i), width, args.previous.row(row));
        cpu::lstm_row(width, z.row(i), args.gates.row(row), h.row(i), c.row(i), args.keep);
        std::copy_n(h.row(i), width, args.h.row(row));
        if (args.keep) std::copy_n(c.row(i), width, args.c.row(row));
      }
    }
    for (Index i = 0; i < count; ++i) {
      const Index s = group.sentence(i);
      if (!args.last_h.empty()) std::copy_n(h.row(i), width, args.last_h.row(s));
      if (!args.last_c.empty()) std::copy_n(c.row(i), width, args.last_c.row(s));
    }
  });
}

template <class T>
void lstm_gradient(Cpu<T>& device, const LstmGradientArgs<Cpu<T>>& args) {
  const LstmArgs<Cpu<T>>& f = args.forward;
  const Index width = f.h.cols;
  cpu::Panels<T> recurrent(device, 4 * width, width);
  if (f.rows.longest > 1 || !args.dh0.to.empty()) recurrent.fill(device, f.recurrent, false);
  cpu::lstm_groups(device, f.rows, f.order, f.reverse, [&](const cpu::LstmGroup& group, int thread) {
    const Index count = group.count();
    T* space = device.workspace(thread, 6 * count * width, 1);
    const Matrix<T> dgates(space, count, 4 * width);  // of one step
    const Matrix<T> dh(space + 4 * count * width, count, width), dc(space + 5 * count * width, count, width);
    cpu::load_states(group, args.dlast_h, dh);
    cpu::load_states(group, args.dlast_c, dc);
    Index active = 0;
    for (Index t = group.length(0) - 1; t >= 0; --t) {
      while (active < count && group.length(active) > t) ++active;
      for (Index i = 0; i < active; ++i) {
        const Index row = group.row(i, t);
        const T* c_before = t > 0 ? f.c.row(group.row(i, t - 1)) : cpu::row_or_none(f.c0, group.sentence(i));
        cpu::lstm_row_gradient(width, f.gates.row(row), c_before, f.c.row(row), cpu::row_or_none(args.dh, row), dh.row(i),
                               dc.row(i), dgates.row(i));
        std::copy_n(dgates.row(i), 4 * width, args.dgates.row(row));
      }
      if (t == 0 && args.dh0.to.empty()) break;
      cpu::clear(dh.row_range(0, active));
      recurrent.multiply(dgates.row_range(0, active), dh);
    }
    for (Index i = 0; i < count; ++i) {
      const Index s = group.sentence(i);
      if (!args.dh0.to.empty()) cpu::put(cpu::row_array(args.dh0.to, s), cpu::row_array(dh, i), args.dh0.add);
      if (!args.dc0.to.empty()) cpu::put(cpu::row_array(args.dc0.to, s), cpu::row_array(dc, i), args.dc0.add);
    }
  });
}

}  // namespace attn
