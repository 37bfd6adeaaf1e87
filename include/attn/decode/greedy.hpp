#pragma once
#include "attn/core/network.hpp"
#include "attn/core/step_graph.hpp"
#include "attn/decode/decoder_model.hpp"

namespace attn {

struct GreedyOptions {
  Token begin = 0, end = 0;                // first and last token of every translation; part of neither
  Index limit = 256;                       // tokens
  Token never = -1;                        // a token that no translation contains, such as the unknown token; -1: none
  std::vector<Token> allowed_tokens = {};  // the only tokens allowed, ascending, with `end`; empty: all
};

/// Appends the tokens of several steps, up to the end of each sentence. Returns which rows go on and sets `tokens` to their
/// last tokens.
template <class Device>
std::vector<bool> append_tokens(const Device& device, const Token* all, Index steps, Token end,
                                const ActiveSentences<Device>& state, std::vector<std::vector<Token>>& translations,
                                std::vector<Token>& tokens) {
  std::vector<Token> written(static_cast<std::size_t>(steps) * tokens.size());
  device.download(written.data(), all, static_cast<Index>(written.size()));
  std::vector<bool> keep(tokens.size(), true);
  tokens.clear();
  for (std::size_t i = 0; i < keep.size(); ++i) {
    auto& translation = translations[static_cast<std::size_t>(state.active()[i])];
    for (std::size_t step = 0; step < static_cast<std::size_t>(steps) && keep[i]; ++step) {
      const Token token = written[step * keep.size() + i];
      keep[i] = token != end;
      if (keep[i]) translation.push_back(token);
    }
    if (keep[i]) tokens.push_back(translation.back());
  }
  return keep;
}

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
  std::vector<Token> tokens = first_tokens(state, options.begin);
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

    const auto keep = append_tokens(device, all, steps, options.end, state, translations, tokens);
    state.end_graph(steps);
    state.keep(keep);
  }
  return translations;
}

/// The column of the most probable next token of each active sentence, `except` excluded; on the device. Models without
/// next() skip writing the logits.
template <class Device, class Model>
const Token* likeliest(Tape<Device>& step, const Model& model, typename Model::State& state,
                       const std::vector<Token>& tokens, Token except) {
  if constexpr (!HasNext<Model>) {
    return state.choices.likeliest(model.output, model.read(step, state, tokens), except);
  } else {
    const auto logits = next_logits(step, model, state, tokens);
    Token* best = step.template array<Token>(logits.rows);
    argmax(step.device, {.logits = logits, .best = best, .except = except});
    return best;
  }
}

/// Greedy decoding of each source sentence. ended(sentence, tokens so far, newest token) returns whether a translation is
/// complete; complete ones leave the batch. Decoding is incremental: keys, values and encoder states are cached.
template <class Device, class Model, class Ended>
std::vector<std::vector<Token>> greedy(Device& device, const Model& model, const Sentences& source,
                                       const GreedyOptions& options, const Ended& ended) {
  std::vector<std::vector<Token>> translations(static_cast<std::size_t>(source.size()));
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, source), options.limit, 1);
  if (!options.allowed_tokens.empty()) state.choices.gather(tape, model.output, options.allowed_tokens);
  std::vector<Token> tokens = first_tokens(state, options.begin);
  std::vector<bool> keep;
  while (!state.active().empty() && state.length() < options.limit) {
    Tape<Device> step(device);
    const Token* best = likeliest(step, model, state, tokens, state.choices.column(options.never));
    device.download(tokens.data(), best, static_cast<Index>(tokens.size()));
    for (Token& token : tokens) token = state.choices.token(token);
    keep.assign(tokens.size(), true);
    std::size_t remaining = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Index sentence = state.active()[i];
      auto& translation = translations[static_cast<std::size_t>(sentence)];
      keep[i] = !ended(sentence, static_cast<Index>(translation.size()), tokens[i]);
      if (!keep[i]) continue;
      translation.push_back(tokens[i]);
      tokens[remaining++] = tokens[i];
    }
    tokens.resize(remaining);
    state.keep(keep);
  }
  return translations;
}

/// Stops each sentence at its end token. Devices that record steps use graph_greedy, unless
/// options.allowed_tokens is given.
template <class Device, class Model>
std::vector<std::vector<Token>> greedy(Device& device, const Model& model, const Sentences& source,
                                       const GreedyOptions& options) {
  if constexpr (StepGraph<Device>::records && SupportsGraph<Model>)
    if (options.allowed_tokens.empty()) return graph_greedy(device, model, source, options);
  return greedy(device, model, source, options, [&](Index, Index, Token token) { return token == options.end; });
}

template <class Model>
std::vector<std::vector<Token>> greedy(const Network<Model>& network, const Sentences& source,
                                       const GreedyOptions& options) {
  return greedy(network.device(), *network, source, options);
}

}  // namespace attn
