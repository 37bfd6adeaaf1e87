#pragma once
#include <vector>

#include "attn/core/sentences.hpp"
#include "attn/core/step_graph.hpp"
#include "attn/decode/decoder_model.hpp"
#include "attn/decode/greedy_options.hpp"
#include "attn/ops/decoding.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// Greedy decoding with one CUDA graph per step. Tokens, ends and cache positions stay on the device. The host launches up
/// to `ahead` steps before it knows how many sentences remain. Ended sentences stay in the batch until they are half of its
/// rows.
template <class Device, SupportsGraph Model>
std::vector<std::vector<Token>> graph_greedy(Device& device, const Model& model, const Sentences& source,
                                             const GreedyOptions& options, Index ahead = 4) {
  require(options.allowed_tokens.empty(), "graph_greedy does not support allowed_tokens. Call greedy.");
  std::vector<std::vector<Token>> translations(static_cast<std::size_t>(source.size()));
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, source), options.limit, 1);
  std::vector<Token> tokens = first_tokens(state, options.begin), written;
  std::vector<bool> keep;
  while (!state.active().empty() && state.length() < options.limit) {
    const auto rows = static_cast<Index>(tokens.size());
    const Index room = options.limit - state.length();
    Tape<Device> graph_tape(device);
    const auto on_device = state.begin_graph(graph_tape, tokens);
    Token* const best = graph_tape.template array<Token>(rows);
    Token* const all = graph_tape.template array<Token>(room * rows);
    std::int32_t* const counts = graph_tape.template array<std::int32_t>(rows + 1);  // per row: has it ended; then the step
    device.zero(counts, rows + 1);
    WatchedCounts<Device> remaining(device, room);
    StepGraph<Device> graph(device);
    Index steps = 0;
    const Index enough = rows > 8 ? rows / 2 : 0;  // a new graph does not pay off for few rows
    for (; steps < room && (steps <= ahead || remaining.of(steps - 1 - ahead) > enough); ++steps)
      graph.run([&] {
        Tape<Device> step(device);
        const auto logits = next_logits(step, model, state, {});
        argmax(device, {.logits = logits, .best = best, .except = options.never});
        greedy_step(device, {.best = best,
                             .rows = rows,
                             .end = options.end,
                             .tokens = on_device.tokens,
                             .ended = counts,
                             .written = all,
                             .step = counts + rows,
                             .remaining = remaining.data(),
                             .counters = on_device.counters,
                             .counter_count = on_device.counter_count});
      });

    written.resize(static_cast<std::size_t>(steps * rows));
    device.download(written.data(), all, steps * rows);
    keep.assign(tokens.size(), true);
    for (std::size_t i = 0; i < keep.size(); ++i) {
      auto& translation = translations[static_cast<std::size_t>(state.active()[i])];
      for (std::size_t step = 0; step < static_cast<std::size_t>(steps) && keep[i]; ++step) {
        const Token token = written[step * keep.size() + i];
        keep[i] = token != options.end;
        if (keep[i]) translation.push_back(token);
      }
    }
    tokens.clear();
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) tokens.push_back(translations[static_cast<std::size_t>(state.active()[i])].back());
    state.end_graph(steps);
    state.keep(keep);
  }
  return translations;
}

}  // namespace attn
