#pragma once
#include <algorithm>
#include <numeric>

#include "attn/ops/move_rows.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/gather_rows.hpp"

namespace attn {

/// Splits a batch into steps, for layers whose input depends on the previous step. Sentences are sorted by decreasing
/// length, so a step's active sentences are a prefix of the previous step's. The host knows only the counts.
template <class Device>
class Steps {
 public:
  /// The steps of a target text that attends to a source text.
  Steps(Tape<Device>& tape, const Text& text, const Text& source) : source_longest_(source.rows.longest) {
    const Index sentences = text.rows.count;
    const auto length = [&](std::int32_t s) { return text.offsets[s + 1] - text.offsets[s]; };
    const auto list = [&](Index count) { return tape.device.tape_nodes.template array<std::int32_t>(count); };
    auto *order = list(sentences), *numbers = list(sentences + 1), *begin = list(sentences), *end = list(sentences);
    auto *rows = list(text.rows.rows), *counts = list(text.rows.longest), *source_rows = list(sentences + 1);
    std::iota(order, order + sentences, 0);
    std::stable_sort(order, order + sentences, [&](auto a, auto b) { return length(a) > length(b); });
    std::iota(numbers, numbers + sentences + 1, 0);
    source_rows[0] = 0;
    for (Index i = 0; i < sentences; ++i) {
      begin[i] = source.offsets[order[i]];
      end[i] = source.offsets[order[i] + 1];
      source_rows[i + 1] = source_rows[i] + end[i] - begin[i];
    }
    auto* next = rows;
    for (std::int32_t t = 0; t < text.rows.longest; ++t) {
      counts[t] = 0;
      for (Index i = 0; i < sentences && length(order[i]) > t; ++i, ++counts[t]) *next++ = text.offsets[order[i]] + t;
    }
    steps_ = text.rows.longest;
    counts_ = counts;
    source_rows_ = source_rows;
    rows_ = tape.upload(rows, text.rows.rows);
    order_ = tape.upload(order, sentences);
    numbers_ = tape.upload(numbers, sentences + 1);
    begin_ = tape.upload(begin, sentences);
    end_ = tape.upload(end, sentences);
  }

  Index size() const { return steps_; }
  Index active(Index step) const { return counts_[step]; }
  /// The packed text's rows in step order; on the device.
  const std::int32_t* rows() const { return rows_; }
  /// The sentences in the order of a step's rows; on the device.
  const std::int32_t* order() const { return order_; }
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
  Index steps_ = 0, source_longest_ = 0;
  const std::int32_t *counts_ = nullptr, *source_rows_ = nullptr;                                // on the host
  const std::int32_t *rows_ = nullptr, *numbers_ = nullptr, *begin_ = nullptr, *end_ = nullptr;  // on the device
  const std::int32_t* order_ = nullptr;                                                          // on the device
};

/// Combines the results of all steps into one packed text. `parts`, one per step, are in the tape's memory.
template <class Device, int Width>
Variable<Device, Width> collect(Tape<Device>& tape, const Variable<Device, Width>* parts, const Steps<Device>& steps,
                                Index rows) {
  const Index cols = steps.size() > 0 ? parts[0].cols() : std::max(Width, 0);
  bool learns = false;
  for (Index t = 0; t < steps.size(); ++t) learns |= parts[t].slot != nullptr;
  auto y = tape.make_result(rows, cols, learns);
  const auto walk = [parts, row = steps.rows(), count = steps.size()](auto&& work) {
    const std::int32_t* first = row;
    for (Index t = 0; t < count; first += parts[t++].rows()) work(parts[t], first);
  };
  walk([&](auto part, const std::int32_t* row) {
    scatter_rows(tape.device, {.from = part.value, .row = row, .to = y.value});
  });
  tape.on_backward(y, [walk](Tape<Device>& back, auto dy) {
    walk([&](auto part, const std::int32_t* row) {
      if (part.slot == nullptr) return;
      const auto sink = back.sink(part);
      require(!sink.add, "collect: a step is used again after collect. Use it before, or slice the result of collect.");
      gather_rows(back.device, {.from = dy, .row = row, .to = sink.to});
    });
  });
  return y;
}

}  // namespace attn
