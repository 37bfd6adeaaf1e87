#pragma once
#include <array>

#include "attn/ops/input_feeding.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/lstm.hpp"

namespace attn {

/// What an input-feeding decoder learns, and its dropout rates.
template <class Device, int Layers>
struct InputFeedingWeights {
  std::array<LstmWeights<Device>, Layers> layers;  // the first one's input: Words + Width columns
  Parameter<Device> mix;                           // Width x (Width + the columns of Value that it reads)
  float between_layers = 0, fed = 0;               // dropout
};

template <class Device, int Width, int Value>
struct InputFeedingResult {
  Variable<Device, Width> fed;      // what each step feeds to the next
  Variable<Device, Value> context;  // what it was made from, beside the state
};

namespace input_feeding_detail {

/// The weights' and the words' gradients, from what input_feeding_gradient left.
template <int Words, int Layers, class Device>
void finish(Tape<Device>& back, Variable<Device, Words> words, const InputFeedingWeights<Device, Layers>& weights,
            const InputFeedingGradientArgs<Device>& walked) {
  const InputFeedingArgs<Device>& f = walked.forward;
  const Index width = f.width();
  for (int l = 0; l < Layers; ++l) {
    const LstmWeights<Device>& layer = weights.layers[static_cast<std::size_t>(l)];
    const auto dgates = f.layer[l].gates;
    const auto dinput = layer.input.gradient_matrix();
    linear_weight_gradient(back.device, {.dy = dgates,
                                         .x = f.layer[l].below,
                                         .dweight = dinput.columns(l == 0 ? Words : 0, width),
                                         .dbias = layer.bias.gradients()});
    linear_weight_gradient(back.device,
                           {.dy = dgates, .x = f.layer[l].before, .dweight = layer.recurrent.gradient_matrix()});
    if (l > 0) continue;
    linear_weight_gradient(back.device, {.dy = dgates, .x = words.value, .dweight = dinput.columns(0, Words)});
    linear_input_gradient(back.device,
                          {.dy = dgates, .weight = layer.input.matrix().columns(0, Words), .dx = back.sink(words)});
  }
  linear_weight_gradient(back.device,
                         {.dy = walked.dmix, .x = f.seen.columns(0, f.mix.cols), .dweight = weights.mix.gradient_matrix()});
}

}  // namespace input_feeding_detail

/// The decoder of an input-feeding model over the words of a batch (ops/input_feeding.hpp has the formula): its keys score
/// by their product with states. Columns of the values beyond those that the mix reads are averaged and fed to nothing.
template <int Width, class Device, int Words, int Value, int Layers>
InputFeedingResult<Device, Width, Value> input_feeding(Tape<Device>& tape, Variable<Device, Words> words,
                                                       const TimeMajor& layout, KeysValues<Device, Width, Value> source,
                                                       double scale, const InputFeedingWeights<Device, Layers>& weights) {
  using Scalar = typename Device::Scalar;
  using Args = InputFeedingArgs<Device>;
  static_assert(Layers <= Args::kMostLayers, "attn: input_feeding: too many layers for one op");
  const Index rows = layout.rows.rows;
  require(words.rows() == rows, "input_feeding: ", words.rows(), " words for sentences that have ", rows, " together");
  require(layout.rows.count == source.rows.count, "input_feeding: ", layout.rows.count, " sentences cannot look at ",
          source.rows.count, "; both sides of a batch must hold the same sentences");
  const auto matrix = [&](Index cols) { return Matrix<Scalar>(tape.template array<Scalar>(rows * cols), rows, cols); };
  const auto seen = matrix(Width + Value);
  const InputFeedingResult<Device, Width, Value> y{tape.template make<Width>(rows),
                                                   {seen.columns(Width, Value), tape.new_slot(rows, Value)}};
  Args forward{.rows = layout.rows,
               .order = layout.order,
               .layers = Layers,
               .layer = {},
               .keys = source.keys.value,
               .values = source.values.value,
               .source = source.rows,
               .scale = scale,
               .mix = weights.mix.matrix(),
               .dropout = tape.dropout(weights.fed),
               .seen = seen,
               .fed = y.fed.value,
               .lse = tape.template array<typename Device::Real>(rows)};
  for (int l = 0; l < Layers; ++l) {
    const LstmWeights<Device>& layer = weights.layers[static_cast<std::size_t>(l)];
    forward.layer[l] = InputFeedingLayer<Device>{.input = layer.input.matrix().columns(l == 0 ? Words : 0, Width),
                                                 .recurrent = layer.recurrent.matrix(),
                                                 .bias = l == 0 ? nullptr : layer.bias.values(),
                                                 .dropout = l == 0 ? Dropout{} : tape.dropout(weights.between_layers),
                                                 .gates = matrix(4 * Width),
                                                 .c = matrix(Width),
                                                 .below = matrix(Width),
                                                 .before = matrix(Width)};
  }
  linear(tape.device, {.x = words.value,
                       .weight = weights.layers[0].input.matrix().columns(0, Words),
                       .bias = weights.layers[0].bias.values(),
                       .y = forward.layer[0].gates});
  input_feeding(tape.device, forward);
  const AttentionArgs<Device> looked{.q = seen.columns(0, Width),
                                     .k = forward.keys,
                                     .v = forward.values,
                                     .queries = layout.rows,
                                     .keys = source.rows,
                                     .scale = scale,
                                     .y = y.context.value,
                                     .lse = forward.lse};
  if (tape.attention_weights != nullptr)
    attention_weights(tape.device, {looked, note_weights(tape, rows, layout.rows, source.rows, 1)});
  tape.on_backward(std::tuple{y.fed, y.context}, [=](Tape<Device>& back, auto dfed, auto from_elsewhere) {
    const auto dcontext = from_elsewhere.empty() ? back.template scratch<Scalar>(rows, Value) : from_elsewhere;
    if (from_elsewhere.empty()) back.device.zero(dcontext);
    const auto dmix = back.template scratch<Scalar>(rows, Width), dq = back.template scratch<Scalar>(rows, Width);
    const InputFeedingGradientArgs<Device> walked{.forward = forward, .dfed = dfed, .dcontext = dcontext, .dmix = dmix};
    input_feeding_gradient(back.device, walked);
    input_feeding_detail::finish(back, words, weights, walked);
    attention_gradient(back.device, {.forward = looked,
                                     .dy = dcontext,
                                     .dq = {dq},  // the op above had them, step by step
                                     .dk = memory_sink(back, source.keys, source.rows),
                                     .dv = memory_sink(back, source.values, source.rows)});
    back.release(dq);
    back.release(dmix);
    if (from_elsewhere.empty()) back.release(dcontext);
  });
  return y;
}

}  // namespace attn
