#pragma once
#include <vector>

#include "attn/core/network.hpp"
#include "attn/core/sentences.hpp"
#include "attn/decode/first_words.hpp"
#include "attn/decode/greedy_options.hpp"
#include "attn/decode/held_greedy.hpp"
#include "attn/ops/argmax.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// The column of the likeliest next word of each active sentence, `except` left out; on the device. Where a model says what it
/// predicts from, nobody has to write the logits.
template <class Device, class Model, class State>
const Token* likeliest(Tape<Device>& step, const Model& model, State& state, const std::vector<Token>& words,
                       Token except) {
  if constexpr (requires { model.read(step, state, words); }) {
    return state.choices.likeliest(model.output, model.read(step, state, words), except);
  } else {
    const auto logits = model.next(step, state, words);
    Token* best = step.template array<Token>(logits.rows);
    argmax(step.device, {.logits = logits, .best = best, .except = except});
    return best;
  }
}

/// Translates each source sentence by taking the likeliest word again and again. ended(sentence, words so far, newest word)
/// says when a translation is complete; complete ones cost nothing more. Keys, values and the source's states are kept, not
/// computed again.
template <class Device, class Model, class Ended>
std::vector<std::vector<Token>> greedy(Device& device, const Model& model, const Sentences& source,
                                       const GreedyOptions& options, const Ended& ended) {
  std::vector<std::vector<Token>> translations(static_cast<std::size_t>(source.size()));
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, source), options.limit);
  if (!options.among.empty()) state.choices.gather(tape, model.output, options.among);
  std::vector<Token> words = first_words(state, options.begin);
  std::vector<bool> keep;
  while (!state.alive().empty() && state.length() < options.limit) {
    Tape<Device> step(device);
    const Token* best = likeliest(step, model, state, words, state.choices.column(options.never));
    device.download(words.data(), best, static_cast<Index>(words.size()));
    for (Token& word : words) word = state.choices.word(word);
    keep.assign(words.size(), true);
    std::size_t alive = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Index sentence = state.alive()[i];
      auto& translation = translations[static_cast<std::size_t>(sentence)];
      keep[i] = !ended(sentence, static_cast<Index>(translation.size()), words[i]);
      if (!keep[i]) continue;
      translation.push_back(words[i]);
      words[alive++] = words[i];
    }
    words.resize(alive);
    state.keep(keep);
  }
  return translations;
}

/// The same, until each sentence's end token; on a device that records steps, by steps that are repeated
/// (decode/held_greedy.hpp), unless words are chosen among some.
template <class Device, class Model>
std::vector<std::vector<Token>> greedy(Device& device, const Model& model, const Sentences& source,
                                       const GreedyOptions& options) {
  if constexpr (StepGraph<Device>::records)
    if (options.among.empty()) return held_greedy(device, model, source, options);
  return greedy(device, model, source, options, [&](Index, Index, Token word) { return word == options.end; });
}

/// The same with a network, on its device.
template <class Model>
std::vector<std::vector<Token>> greedy(const Network<Model>& network, const Sentences& source,
                                       const GreedyOptions& options) {
  return greedy(network.device(), *network, source, options);
}

}  // namespace attn
