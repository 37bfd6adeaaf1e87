#pragma once
#include "attn/ops/lstm.hpp"
#include "attn/ops/move_rows.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/gather_rows.hpp"
#include "attn/tape/lstm.hpp"

namespace attn {

template <class Device>
struct InputFeedingWeights {
  std::array<LstmWeights<Device>, InputFeedingArgs<Device>::kMostLayers> layers;  // the first one's input: words + Width
  Parameter<Device> mix;              // Width x (Width + the value columns it reads)
  float between_layers = 0, fed = 0;  // dropout

  int count() const {
    return static_cast<int>(std::ranges::count_if(layers, [](auto& l) { return l.bias.size() > 0; }));
  }
  bool learns() const { return mix.learns() || std::ranges::any_of(layers, &LstmWeights<Device>::learns); }
};

template <class Device, int Width = dynamic, int Value = dynamic>
struct InputFeedingResult {
  Variable<Device, Width> fed;      // a: each step's input for the next step
  Variable<Device, Value> context;  // c: the averaged values
};

/// Computes the gradients of the weights and words from the results of input_feeding_gradient.
template <class Device>
void add_input_feeding_gradients(Tape<Device>& back, Variable<Device> words, const InputFeedingWeights<Device>& weights,
                                 const InputFeedingGradientArgs<Device>& walked) {
  const InputFeedingArgs<Device>& f = walked.forward;
  const Index width = f.width(), from_words = words.cols();
  for (int l = 0; l < f.layers; ++l) {
    const LstmWeights<Device>& layer = weights.layers[static_cast<std::size_t>(l)];
    const auto dgates = f.layer[l].gates;
    const GradientOrScratch<Device> gradient(back, layer.input);
    const Matrix<typename Device::Real> dinput = gradient;
    linear_weight_gradient(back.device, {.dy = dgates,
                                         .x = f.layer[l].below,
                                         .dweight = dinput.columns(l == 0 ? from_words : 0, width),
                                         .dbias = gradient_or_null(layer.bias)});
    add_linear_gradient<Device>(back, dgates, f.layer[l].before, layer.recurrent);
    if (l > 0) continue;
    linear_weight_gradient(back.device, {.dy = dgates, .x = words.value, .dweight = dinput.columns(0, from_words)});
    if (words.slot != nullptr)
      linear_input_gradient(back.device,
                            {.dy = dgates, .weight = layer.input.matrix().columns(0, from_words), .dx = back.sink(words)});
  }
  add_linear_gradient<Device>(back, walked.dmix, f.seen.columns(0, f.mix.cols), weights.mix);
}

/// The decoder of an input-feeding model over the words of a batch (formulas in ops/lstm.hpp). Scores are products
/// of keys and states. Value columns beyond those that `mix` reads are averaged, but not fed to the next step.
template <class Device>
InputFeedingResult<Device> input_feeding(Variable<Device> words, const TimeMajor& layout, KeysValues<Device> source,
                                         double scale, const InputFeedingWeights<Device>& weights) {
  Tape<Device>& tape = words.tape();
  const Index width = source.keys.cols(), value = source.values.cols(), from_words = words.cols();
  using Scalar = typename Device::Scalar;
  const Index rows = layout.rows.rows;
  require(words.rows() == rows, "input_feeding: ", words.rows(), " rows of words for sentences of ", rows,
          " tokens in total");
  require(layout.rows.count == source.rows.count, "input_feeding: ", layout.rows.count, " target sentences, but ",
          source.rows.count, " source sentences. Pass one target per source.");
  const LstmWeights<Device>& lowest = weights.layers[0];
  require(lowest.input.cols == from_words + width && lowest.recurrent.cols == width && weights.mix.rows == width &&
              weights.mix.cols > width && weights.mix.cols <= width + value,
          "input_feeding: words of ", from_words, " columns, keys of ", width, " and values of ", value,
          " for a layer with an input of ", lowest.input.cols, " columns and a mix of ", weights.mix.rows, " x ",
          weights.mix.cols);
  const auto matrix = [&](Index cols) { return tape.matrix(rows, cols); };
  const auto seen = matrix(width + value);
  InputFeedingResult<Device> y{tape.result(rows, width, words, source.keys, source.values, weights),
                               Variable<Device>(seen.columns(width, value), &tape)};
  if (y.fed.slot != nullptr) y.context.slot = tape.new_slot(rows, value);
  InputFeedingArgs<Device> forward{.rows = layout.rows,
                                   .order = layout.order,
                                   .layers = weights.count(),
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
  for (int l = 0; l < forward.layers; ++l) {
    const LstmWeights<Device>& layer = weights.layers[static_cast<std::size_t>(l)];
    forward.layer[l] = InputFeedingLayer<Device>{.input = layer.input.matrix().columns(l == 0 ? from_words : 0, width),
                                                 .recurrent = layer.recurrent.matrix(),
                                                 .bias = l == 0 ? nullptr : layer.bias.values(),
                                                 .dropout = l == 0 ? Dropout{} : tape.dropout(weights.between_layers),
                                                 .gates = matrix(4 * width),
                                                 .c = matrix(width),
                                                 .below = matrix(width),
                                                 .before = matrix(width)};
  }
  linear(tape.device, {.x = words.value,
                       .weight = weights.layers[0].input.matrix().columns(0, from_words),
                       .bias = weights.layers[0].bias.values(),
                       .y = forward.layer[0].gates});
  input_feeding(tape.device, forward);
  const AttentionArgs<Device> looked{.q = seen.columns(0, width),
                                     .k = forward.keys,
                                     .v = forward.values,
                                     .queries = layout.rows,
                                     .keys = source.rows,
                                     .scale = scale,
                                     .y = y.context.value,
                                     .lse = forward.lse};
  if (tape.attention_weights != nullptr)
    attention_weights(tape.device, {looked, note_weights(tape, rows, layout.rows, source.rows, 1)});
  tape.on_backward(std::array{y.fed, y.context}, [=](Tape<Device>& back, auto dfed, auto from_elsewhere) {
    std::optional<Scratch<Device, Scalar>> unused;
    const auto dcontext = from_elsewhere.empty() ? unused.emplace(back, rows, value).matrix : from_elsewhere;
    if (unused) back.device.zero(dcontext);
    const Scratch<Device, Scalar> dmix(back, rows, width), dq(back, rows, width);
    const InputFeedingGradientArgs<Device> walked{
        .forward = forward, .dfed = dfed, .dcontext = dcontext, .dmix = dmix.matrix};
    input_feeding_gradient(back.device, walked);
    add_input_feeding_gradients(back, words, weights, walked);
    const SinkOrScratch<Device> dk(back, source.keys, source.rows.rows), dv(back, source.values, source.rows.rows);
    attention_gradient(back.device, {.forward = looked,
                                     .dy = dcontext,
                                     .dq = {dq.matrix},  // input_feeding_gradient already used dq, step by step
                                     .dk = dk,
                                     .dv = dv});
  });
  return y;
}

/// Splits a batch into steps, for layers whose input depends on the previous step. Sentences are sorted by decreasing
/// length, so a step's active sentences are a prefix of the previous step's. The host knows only the counts.
template <class Device>
class TargetSteps {
 public:
  /// The steps of a target text that attends to a source text.
  TargetSteps(Tape<Device>& tape, const Text& text, const Text& source) : source_longest_(source.rows.longest) {
    const Index sentences = text.rows.count;
    const auto length = [&](std::int32_t s) { return text.offsets[s + 1] - text.offsets[s]; };
    const auto list = [&](Index count) { return tape.device.tape_nodes.template array<std::int32_t>(count); };
    auto *by_length = longest_first(tape, text.offsets, sentences), *numbers = list(sentences + 1),
         *begin = list(sentences), *end = list(sentences);
    auto *step_rows = list(text.rows.rows), *counts = list(text.rows.longest), *source_rows = list(sentences + 1);
    std::iota(numbers, numbers + sentences + 1, 0);
    source_rows[0] = 0;
    for (Index i = 0; i < sentences; ++i) {
      begin[i] = source.offsets[by_length[i]];
      end[i] = source.offsets[by_length[i] + 1];
      source_rows[i + 1] = source_rows[i] + end[i] - begin[i];
    }
    auto* next = step_rows;
    for (std::int32_t t = 0; t < text.rows.longest; ++t) {
      counts[t] = 0;
      for (Index i = 0; i < sentences && length(by_length[i]) > t; ++i, ++counts[t])
        *next++ = text.offsets[by_length[i]] + t;
    }
    size = text.rows.longest;
    counts_ = counts;
    source_rows_ = source_rows;
    rows = tape.upload(step_rows, text.rows.rows);
    order = tape.upload(by_length, sentences);
    numbers_ = tape.upload(numbers, sentences + 1);
    begin_ = tape.upload(begin, sentences);
    end_ = tape.upload(end, sentences);
  }

  Index size = 0;
  const std::int32_t *rows = nullptr, *order = nullptr;  // of the packed text, in step order; the sentences; on the device

  Index active(Index step) const { return counts_[step]; }
  /// One row for each active sentence, and the source rows it attends to.
  Ragged layout(Index step) const { return {numbers_, numbers_ + 1, active(step), active(step), 1}; }
  Ragged source(Index step) const { return {begin_, end_, active(step), source_rows_[active(step)], source_longest_}; }

  /// The previous step's rows of the sentences that are still active.
  template <int Width>
  Variable<Device, Width> survivors(Variable<Device, Width> x, Index step) const {
    if (x.rows() == active(step)) return x;
    return gather_rows(x, numbers_, active(step));
  }

 private:
  Index source_longest_ = 0;
  const std::int32_t *counts_ = nullptr, *source_rows_ = nullptr;              // on the host
  const std::int32_t *numbers_ = nullptr, *begin_ = nullptr, *end_ = nullptr;  // on the device
};

/// Combines the results of all steps into one packed text. `parts`, one per step, are in the tape's memory.
template <class Device, int Width>
Variable<Device, Width> collect(Tape<Device>& tape, const Variable<Device, Width>* parts, const TargetSteps<Device>& steps,
                                Index rows, Index cols) {
  bool learns = false;
  for (Index t = 0; t < steps.size; ++t) learns |= parts[t].slot != nullptr;
  auto y = tape.make_result(rows, cols, learns);
  const auto walk = [parts, row = steps.rows, count = steps.size](auto&& work) {
    const std::int32_t* first = row;
    for (Index t = 0; t < count; first += parts[t++].rows()) work(parts[t], first);
  };
  walk([&](auto part, const std::int32_t* row) {
    move_rows(tape.device, {.from = part.value, .to = {y.value}, .to_row = row, .count = part.rows()});
  });
  tape.on_backward(y, [walk](Tape<Device>& back, auto dy) {
    walk([&](auto part, const std::int32_t* row) {
      if (part.slot != nullptr)
        move_rows(back.device, {.from = dy, .from_row = row, .to = back.sink(part), .count = part.rows()});
    });
  });
  return y;
}

}  // namespace attn
