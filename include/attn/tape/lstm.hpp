#pragma once
#include "attn/ops/lstm.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

/// A packed batch for recurrent layers, which process all sentences together, step by step. The active sentences of a step
/// are a prefix of `order`. Create it once per batch and use it for every layer.
struct TimeMajor {
  Ragged rows;
  const std::int32_t* order = nullptr;  // sentences by decreasing length, on the device
};

/// For a batch whose layout is already on the device. Its count + 1 offsets are on the host.
TimeMajor time_major(auto& tape, Ragged rows, const std::int32_t* offsets) {
  return {rows, tape.upload(longest_first(tape, offsets, rows.count), rows.count)};
}

/// Sentences of one row each: a decoding step, or a step of an input-feeding decoder.
inline TimeMajor one_step(const Ragged& rows) { return {rows, rows.begin}; }  // 0, 1, 2, ...: equal lengths

/// The two states of an LSTM, one row per sentence. An empty state is 0.
template <class Device, int Width = dynamic>
struct LstmState {
  Variable<Device, Width> h, c;
};

/// The states of several layers, in memory of the tape. Without any, all are 0.
template <class Device, int Width = dynamic>
using LstmStates = std::span<LstmState<Device, Width>>;

template <int Width, class Device>
LstmStates<Device, Width> empty_states(Tape<Device>& tape, std::size_t layers) {
  auto* states = tape.device.tape_nodes.template array<LstmState<Device, Width>>(static_cast<Index>(layers));
  std::uninitialized_default_construct_n(states, layers);
  return {states, layers};
}

/// An LSTM's results: h after every row, and the states after each sentence's last step.
template <class Device, int Width = dynamic>
struct LstmResult {
  Variable<Device, Width> h;
  LstmState<Device, Width> last;
};

template <class Device>
struct LstmWeights {
  Parameter<Device> input;      // 4 Width x In; i, f, g, o
  Parameter<Device> recurrent;  // 4 Width x Width
  Parameter<Device> bias;       // 4 Width

  bool learns() const { return input.learns() || recurrent.learns() || bias.learns(); }
};

/// One LSTM of a layer, reading each sentence forwards or in reverse. Writes its results to `y`, whose members may be
/// slices of wider activations.
template <class Device>
struct LstmDirection {
  LstmWeights<Device> weights;
  LstmState<Device> initial;
  LstmResult<Device> y;
  bool reverse = false;
};

template <class Device, std::size_t Ways>
void lstm(Variable<Device> x, const TimeMajor& layout, const std::array<LstmDirection<Device>, Ways>& ways) {
  Tape<Device>& tape = x.tape();
  using Scalar = typename Device::Scalar;
  const Index rows = layout.rows.rows, sentences = layout.rows.count;
  require(x.rows() == rows, "lstm: an input of ", x.rows(), " rows for sentences of ", rows, " tokens in total");
  const auto begin = [&](const LstmDirection<Device>& way) {
    const auto& [h0, c0] = way.initial;
    const auto& [input, recurrent, bias] = way.weights;
    const Index width = recurrent.cols;
    require(x.cols() == input.cols && input.rows == 4 * width && recurrent.rows == 4 * width && bias.size() == 4 * width,
            "lstm: an input of ", x.cols(), " columns for weights of ", input.rows, " x ", input.cols, ", ", recurrent.rows,
            " x ", recurrent.cols, " and a bias of ", bias.size());
    const auto wide = [&](const auto& state) { return state.value.empty() || state.cols() == width; };
    require(wide(h0) && wide(c0), "lstm: initial states of ", h0.cols(), " (h) and ", c0.cols(),
            " (c) columns for a width of ", width);
    const auto fits = [&](const auto& state) { return state.value.empty() || state.rows() == sentences; };
    require(fits(h0) && fits(c0), "lstm: initial states of ", h0.rows(), " (h) and ", c0.rows(),
            " (c) sentences for a batch of ", sentences);
    return LstmArgs<Device>{.gates = tape.matrix(rows, 4 * width),
                            .rows = layout.rows,
                            .order = layout.order,
                            .recurrent = recurrent.matrix(),
                            .h0 = h0.value,
                            .c0 = c0.value,
                            .reverse = way.reverse,
                            .keep = tape.recording(),
                            .h = way.y.h.value,
                            .c = tape.matrix(rows, width),
                            .previous = tape.matrix(rows, width),
                            .last_h = way.y.last.h.value,
                            .last_c = way.y.last.c.value};
  };
  std::array<LstmArgs<Device>, Ways> forward;
  for (std::size_t i = 0; i < Ways; ++i) forward[i] = begin(ways[i]);
  const auto same = [](const auto& a, const auto& b) { return !a.value.empty() && a.value.data == b.value.data; };
  for (std::size_t i = 0; i < Ways && tape.recording(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      require(!same(ways[i].initial.h, ways[j].initial.h) && !same(ways[i].initial.c, ways[j].initial.c),
              "lstm: two LSTMs that run together cannot share an initial state. Call lstm for each.");
  if (!tape.recording() && rows == sentences && layout.rows.longest == 1) {  // a decoding step
    for (std::size_t i = 0; i < Ways; ++i)
      lstm_cell(tape.device, {.x = x.value,
                              .input = ways[i].weights.input.matrix(),
                              .bias = ways[i].weights.bias.values(),
                              .step = forward[i]});
    return;
  }
  for (std::size_t i = 0; i < Ways; ++i)
    linear(tape.device, {.x = x.value,
                         .weight = ways[i].weights.input.matrix(),
                         .bias = ways[i].weights.bias.values(),
                         .y = forward[i].gates});
  lstm(tape.device, forward);
  std::array<Variable<Device>, 3 * Ways> results;
  auto* result = results.data();
  for (const auto& way : ways) *result++ = way.y.h, *result++ = way.y.last.h, *result++ = way.y.last.c;
  tape.on_backward(results, [=](Tape<Device>& back, auto... gradients) {
    const std::array<Matrix<Scalar>, 3 * Ways> d{gradients...};
    const auto sink = [&](auto state) { return state.slot == nullptr ? Sink<Scalar>{} : back.sink(state); };
    std::array<LstmGradientArgs<Device>, Ways> backward;
    for (std::size_t i = 0; i < Ways; ++i)
      backward[i] = LstmGradientArgs<Device>{.forward = forward[i],
                                             .dh = d[3 * i],
                                             .dlast_h = d[3 * i + 1],
                                             .dlast_c = d[3 * i + 2],
                                             .dgates = forward[i].gates,  // in place: the gates are not needed again
                                             .dh0 = sink(ways[i].initial.h),
                                             .dc0 = sink(ways[i].initial.c)};
    lstm_gradient(back.device, backward);
    for (std::size_t i = Ways; i-- > 0;) {
      const LstmWeights<Device>& weights = ways[i].weights;
      const Matrix<Scalar> dgates = backward[i].dgates;
      add_linear_gradient<Device>(back, dgates, x.value, weights.input, weights.bias);
      add_linear_gradient<Device>(back, dgates, forward[i].previous, weights.recurrent);
      if (x.slot != nullptr)
        linear_input_gradient(back.device, {.dy = dgates, .weight = weights.input.matrix(), .dx = back.sink(x)});
    }
  });
}

/// Views of the states of several layers, stored as one row per sentence: [h; c] of every layer.
template <int Width, class Device>
LstmStates<Device, Width> cut_states(Tape<Device>& tape, Matrix<typename Device::Scalar> rows, std::size_t layers) {
  const auto states = empty_states<Width>(tape, layers);
  const Index width = rows.cols / (2 * std::ssize(states));
  Index first = 0;
  const auto slice = [&] { return tape.constant(rows.columns(std::exchange(first, first + width), width)); };
  for (auto& state : states) state.h = slice(), state.c = slice();
  return states;
}

/// Allocates the states of several layers. Without recording they are adjacent, so that they can be moved together.
template <int Width, class Device>
LstmStates<Device, Width> make_states(Tape<Device>& tape, std::size_t layers, Size<Width> width, Index sentences) {
  if (!tape.recording())
    return cut_states<Width>(tape, tape.matrix(sentences, 2 * static_cast<Index>(layers) * width), layers);
  const auto states = empty_states<Width>(tape, layers);
  for (auto& state : states) state = {tape.make(sentences, width), tape.make(sentences, width)};
  return states;
}

/// Allocates the results of an LSTM over this batch. They have gradients if one of the inputs has one.
template <class Device, int Width>
LstmResult<Device, Width> make_lstm_result(Tape<Device>& tape, const TimeMajor& layout, Size<Width> width, const auto& from,
                                           const auto&... more) {
  const auto make = [&](Index rows) { return tape.result(rows, width, from, more...); };
  const Index sentences = layout.rows.count;
  return {make(layout.rows.rows), {make(sentences), make(sentences)}};
}

}  // namespace attn
