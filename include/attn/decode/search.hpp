#pragma once
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/decode/beam.hpp"
#include "attn/decode/graph_beam_search.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/decode/model_steps.hpp"
#include "attn/decode/sample.hpp"

namespace attn {

/// Beam search: up to n_best translations of each sentence, best first. `steps` can be any model, ensemble or table,
/// started with options.rows() hypotheses per sentence.
///
/// Each step extends the k live hypotheses of a sentence by every token and ranks the continuations by log-probability.
/// Those among the best k that end are set aside as complete; the next best that do not end fill the k live places. The
/// search of a sentence stops at `complete` complete hypotheses (see Stop) or at the limit. The score then ranks the
/// complete ones.
///
/// At the limit, live hypotheses count as complete, without an end token and with `complete` false. So do hypotheses that
/// cannot continue because all tokens are forbidden. repeated_ending (decode/repetition.hpp) detects translations that
/// repeat themselves.
///
/// Forbidden tokens (never, min_length, no_repeat) are not chosen. The others keep the model's probability, so
/// log_probability equals that of decode/forced.hpp, unless options.renormalize is set. Prefix tokens override all
/// restrictions. With a beam of 1, n_best 1 and no restrictions, the result equals greedy. Apart from rounding on the
/// device, results do not depend on the other sentences of the batch.
///
/// options.sampling samples tokens instead: n_best independent translations per sentence, in the order drawn.
///
/// If `trees` is given, it receives the search tree of each sentence (decode/search_tree.hpp).
inline std::vector<std::vector<Hypothesis>> beam_search(DecodingSteps& steps, const SearchOptions& options,
                                                        std::vector<SearchTree>* trees = nullptr) {
  const std::size_t sentences = steps.active().size();
  check_options(options, static_cast<Index>(sentences));
  if (options.sampling) return sample(steps, options);
  std::vector<Beam> beams = begin_beams(sentences, options, trees);

  std::vector<Token> tokens = steps.first_tokens(options.begin);
  std::vector<Index> active(sentences), selected;  // active: unfinished sentences, ascending; their rows are adjacent
  for (std::size_t i = 0; i < sentences; ++i) active[i] = static_cast<Index>(i);
  std::vector<std::vector<Token>> blocked;  // per row
  ChoiceRules rules;
  Choices choices;
  for (Index t = 0; t < options.limit && !active.empty(); ++t) {
    rules = ChoiceRules{.k = options.beam + 1, .except = options.never, .only = {}, .renormalize = options.renormalize};
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
    rules.k += static_cast<Index>(most_blocked);  // leaves enough choices if all blocked tokens rank first
    steps.best(tokens, rules, choices);

    Index first = 0;
    std::size_t going_on = 0;
    tokens.clear(), selected.clear();
    for (const Index i : active) {
      Beam& beam = beams[static_cast<std::size_t>(i)];
      const Index rows = beam.rows();
      beam.step(choices, first,
                std::span(blocked).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)));
      for (Index row = 0; row < beam.rows(); ++row) {
        selected.push_back(first + beam.continues(row));
        tokens.push_back(beam.newest(row));
      }
      first += rows;
      if (!beam.over()) active[going_on++] = i;
    }
    active.resize(going_on);
    steps.select(selected);
  }
  return finish_beams(beams);
}

/// Wraps greedy translations as hypotheses. Their probabilities are NaN: greedy decoding computes none.
inline std::vector<std::vector<Hypothesis>> as_hypotheses(std::vector<std::vector<Token>> translations, Index limit) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::vector<Hypothesis>> all;
  for (auto& tokens : translations) {
    const bool complete = static_cast<Index>(tokens.size()) < limit;
    all.push_back({{std::move(tokens), unknown, unknown, {}, complete}});
  }
  return all;
}

/// Searches with a model on its device; `source` includes special tokens. A beam of 1 without scores is greedy decoding.
/// Devices that record steps use CUDA graphs (decode/graph_beam_search.hpp) if model and options allow it.
template <class Device, class Model>
std::vector<std::vector<Hypothesis>> beam_search(Device& device, const Model& model, const Sentences& source,
                                                 const SearchOptions& options, std::vector<SearchTree>* trees = nullptr) {
  check_options(options, source.size());
  if (options.greedy() && trees == nullptr)
    return as_hypotheses(greedy(device, model, source,
                                {options.begin, options.end, options.limit, options.never.empty() ? -1 : options.never[0],
                                 options.allowed_tokens}),
                         options.limit);
  if constexpr (StepGraph<Device>::records && SupportsGraph<Model> && SupportsGraphBeam<Model>)
    if (model.supports_graph_beam() && fits_beam_graph(options))
      return graph_beam_search(device, model, source, options, trees);
  ModelSteps<Device, Model> steps(device, model, source, options.limit, options.rows(), options.allowed_tokens);
  return beam_search(steps, options, trees);
}

/// Runs on the network's device.
template <class Model>
std::vector<std::vector<Hypothesis>> beam_search(const Network<Model>& network, const Sentences& source,
                                                 const SearchOptions& options, std::vector<SearchTree>* trees = nullptr) {
  return beam_search(network.device(), *network, source, options, trees);
}

}  // namespace attn
