#pragma once
#include <algorithm>
#include <vector>

#include "attn/core/sentences.hpp"
#include "attn/decode/first_words.hpp"
#include "attn/decode/greedy_options.hpp"
#include "attn/decode/step_graph.hpp"
#include "attn/decode/watched_counts.hpp"
#include "attn/ops/argmax.hpp"
#include "attn/ops/take_words.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// Greedy decoding whose steps ask nothing of the host: words, ends and where caches grow stay on the device, and a step is a
/// graph that is launched again and again, a few steps `ahead` of those of which the host knows how many sentences are left.
/// Those that have ended are carried along until they are half of the rows.
template <class Device, class Model>
std::vector<std::vector<Token>> held_greedy(Device& device, const Model& model, const Sentences& source,
                                            const GreedyOptions& options, Index ahead = 4) {
  require(options.among.empty(), "held_greedy: chooses among all words; greedy(...) takes a list");
  std::vector<std::vector<Token>> translations(static_cast<std::size_t>(source.size()));
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, source), options.limit);
  std::vector<Token> words = first_words(state, options.begin), written;
  std::vector<std::int32_t> ended;
  std::vector<bool> keep;
  while (!state.alive().empty() && state.length() < options.limit) {
    const auto rows = static_cast<Index>(words.size());
    const Index room = options.limit - state.length();
    Tape<Device> held(device);
    const auto on_device = state.hold(held, words);
    Token* const best = held.template array<Token>(rows);
    Token* const all = held.template array<Token>(room * rows);
    std::int32_t* const counts = held.template array<std::int32_t>(rows + 1);  // of each row whether it has ended; step
    device.zero(counts, rows + 1);
    WatchedCounts<Device> remaining(device, room);
    StepGraph<Device> graph(device);
    Index steps = 0;
    const Index enough = rows > 8 ? rows / 2 : 0;  // few rows are not worth another graph
    for (; steps < room && (steps <= ahead || remaining.of(steps - 1 - ahead) > enough); ++steps)
      graph.run([&] {
        Tape<Device> step(device);
        const auto logits = model.next(step, state, {});
        argmax(device, {.logits = logits, .best = best, .except = options.never});
        take_words(device, {.best = best,
                            .rows = rows,
                            .end = options.end,
                            .words = on_device.words,
                            .ended = counts,
                            .written = all,
                            .step = counts + rows,
                            .remaining = remaining.data(),
                            .counters = on_device.counters,
                            .counter_count = on_device.counter_count});
      });

    written.resize(static_cast<std::size_t>(steps * rows));
    device.download(written.data(), all, steps * rows);
    keep.assign(words.size(), true);
    for (std::size_t i = 0; i < keep.size(); ++i) {
      auto& translation = translations[static_cast<std::size_t>(state.alive()[i])];
      for (std::size_t step = 0; step < static_cast<std::size_t>(steps) && keep[i]; ++step) {
        const Token word = written[step * keep.size() + i];
        keep[i] = word != options.end;
        if (keep[i]) translation.push_back(word);
      }
    }
    words.clear();
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) words.push_back(translations[static_cast<std::size_t>(state.alive()[i])].back());
    state.let_go(steps);
    state.keep(keep);
  }
  return translations;
}

}  // namespace attn
