#pragma once
#include <algorithm>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/decode/beam.hpp"
#include "attn/decode/held_search.hpp"
#include "attn/decode/model_steps.hpp"
#include "attn/decode/sample.hpp"

namespace attn {

/// Beam search: up to n_best translations of each sentence, the best first, of any model, ensemble or table that gives
/// DecodingSteps, begun with room for options.rows() hypotheses of each sentence.
///
/// At each step the k live hypotheses of a sentence are continued by every token; the k continuations of highest
/// log-probability stay. Those among them that end are complete and set aside, and the next best that do not end take their
/// places, so that k are live. A sentence's search ends at `complete` complete hypotheses (see Stop) or at the limit. Then the
/// score chooses among the complete ones.
///
/// A translation that does not end: at the limit live hypotheses count as complete ones, without an end and with `complete`
/// false; so do those that cannot go on because all tokens are forbidden. repeated_ending (decode/repetition.hpp) says
/// whether such a translation runs in circles.
///
/// A token that is forbidden (never, min_length, no_repeat) is not chosen; the others keep the probability that the model
/// gives them, so that log_probability is log P of the model (decode/forced.hpp computes it too). Tokens of a prefix are taken
/// whatever forbids them. With a beam of 1, one best and nothing forbidden the result is that of greedy. Results do not
/// depend on the other sentences, but for how the device rounds.
///
/// With options.sampling tokens are drawn instead: n_best translations of each sentence, independent, in the order drawn.
///
/// trees: if given, gets each sentence's tree of hypotheses (decode/search_tree.hpp).
inline std::vector<std::vector<Hypothesis>> search(DecodingSteps& steps, const SearchOptions& options,
                                                   std::vector<SearchTree>* trees = nullptr) {
  const std::size_t sentences = steps.alive().size();
  check(options, static_cast<Index>(sentences));
  if (options.sampling) return sample(steps, options);
  std::vector<Beam> beams = begin_beams(sentences, options, trees);

  std::vector<Token> words = steps.first_words(options.begin);
  std::vector<Index> active(sentences), selected;  // sentences whose search goes on, in order: their rows stand together
  for (std::size_t i = 0; i < sentences; ++i) active[i] = static_cast<Index>(i);
  std::vector<std::vector<Token>> blocked;  // of each row
  ChoiceRules rules;
  Choices choices;
  for (Index t = 0; t < options.limit && !active.empty(); ++t) {
    rules = ChoiceRules{.k = options.beam + 1, .except = options.never, .only = {}};
    if (t < options.min_length) rules.except.push_back(options.end);
    blocked.clear();
    bool forced = false;
    std::size_t most_blocked = 0;
    for (const Index i : active) {
      const Beam& beam = beams[static_cast<std::size_t>(i)];
      forced = forced || beam.forced() >= 0;
      for (Index row = 0; row < beam.rows(); ++row) {
        rules.only.push_back(beam.forced());
        blocked.push_back(beam.blocked(row));
        most_blocked = std::max(most_blocked, blocked.back().size());
      }
    }
    if (!forced) rules.only.clear();
    rules.k += static_cast<Index>(most_blocked);  // enough are left whatever is blocked
    steps.best(words, rules, choices);

    Index first = 0;
    std::size_t going_on = 0;
    words.clear(), selected.clear();
    for (const Index i : active) {
      Beam& beam = beams[static_cast<std::size_t>(i)];
      const Index rows = beam.rows();
      beam.step(choices, first,
                std::span(blocked).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)));
      for (Index row = 0; row < beam.rows(); ++row) {
        selected.push_back(first + beam.continues(row));
        words.push_back(beam.newest(row));
      }
      first += rows;
      if (!beam.over()) active[going_on++] = i;
    }
    active.resize(going_on);
    steps.select(selected);
  }
  return finish_beams(beams);
}

/// The same of a model on its device, and of sentences with their special tokens; on a device that records steps, by steps
/// that are repeated (decode/held_search.hpp), where model and options allow it.
template <class Device, class Model>
std::vector<std::vector<Hypothesis>> search(Device& device, const Model& model, const Sentences& source,
                                            const SearchOptions& options, std::vector<SearchTree>* trees = nullptr) {
  check(options, source.size());
  if constexpr (StepGraph<Device>::records && HoldsBeams<Model>)
    if (model.holds_beams() && can_be_held(options)) return held_search(device, model, source, options, trees);
  ModelSteps<Device, Model> steps(device, model, source, options.limit, options.rows(), options.among);
  return search(steps, options, trees);
}

/// The same with a network, on its device.
template <class Model>
std::vector<std::vector<Hypothesis>> search(const Network<Model>& network, const Sentences& source,
                                            const SearchOptions& options, std::vector<SearchTree>* trees = nullptr) {
  return search(network.device(), *network, source, options, trees);
}

}  // namespace attn
