#pragma once
#include <vector>

#include "attn/core/network.hpp"
#include "attn/core/sentences.hpp"
#include "attn/decode/decoder_model.hpp"
#include "attn/decode/graph_greedy.hpp"
#include "attn/decode/greedy_options.hpp"
#include "attn/ops/decoding.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

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

/// Stops each sentence at its end token. Devices that record steps use decode/graph_greedy.hpp, unless
/// options.allowed_tokens is given.
template <class Device, class Model>
std::vector<std::vector<Token>> greedy(Device& device, const Model& model, const Sentences& source,
                                       const GreedyOptions& options) {
  if constexpr (StepGraph<Device>::records && SupportsGraph<Model>)
    if (options.allowed_tokens.empty()) return graph_greedy(device, model, source, options);
  return greedy(device, model, source, options, [&](Index, Index, Token token) { return token == options.end; });
}

/// Runs on the network's device.
template <class Model>
std::vector<std::vector<Token>> greedy(const Network<Model>& network, const Sentences& source,
                                       const GreedyOptions& options) {
  return greedy(network.device(), *network, source, options);
}

}  // namespace attn
