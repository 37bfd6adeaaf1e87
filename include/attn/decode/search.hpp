#pragma once
#include "attn/decode/beam.hpp"
#include "attn/decode/graph_beam_search.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/decode/model_steps.hpp"

namespace attn {

/// Samples a token from a row of log-probabilities; returns -1 if all are -inf.
inline Token draw(std::span<const double> log_probabilities, const Sampling& by, Random& random) {
  std::vector<Token> order;
  for (std::size_t j = 0; j < log_probabilities.size(); ++j)
    if (log_probabilities[j] > -HUGE_VAL) order.push_back(static_cast<Token>(j));
  if (order.empty()) return -1;
  const auto p = [&](Token token) { return log_probabilities[static_cast<std::size_t>(token)]; };
  if (by.top_k > 0 || by.top_p < 1)
    std::sort(order.begin(), order.end(), [&](Token a, Token b) { return p(a) > p(b) || (p(a) == p(b) && a < b); });
  if (by.top_k > 0 && static_cast<Index>(order.size()) > by.top_k) order.resize(static_cast<std::size_t>(by.top_k));
  const double most = p(*std::ranges::max_element(order, {}, p));
  std::vector<double> weights;
  for (const Token token : order) weights.push_back(std::exp((p(token) - most) / by.temperature));
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (by.top_p < 1) {
    double sum = 0;
    std::size_t count = 0;
    while (count < weights.size() && sum < by.top_p * total) sum += weights[count++];
    order.resize(count), weights.resize(count);
    total = sum;
  }
  double left = random.uniform() * total;
  for (std::size_t j = 0; j + 1 < order.size(); ++j)
    if ((left -= weights[j]) < 0) return order[j];
  return order.back();
}

/// Samples translations, see search.hpp. Copies every row's log-probabilities to the host.
inline Hypotheses sample(DecodingSteps& steps, const SearchOptions& options) {
  const std::size_t sentences = steps.active().size(), each = static_cast<std::size_t>(options.n_best);
  struct Row {
    std::size_t sentence, number;
    Random random;
  };
  Hypotheses results(sentences, std::vector<Hypothesis>(each, Hypothesis{.complete = false}));
  std::vector<Row> rows;
  std::vector<Index> selected;
  std::vector<Token> tokens;
  const std::vector<Token> first = steps.first_tokens(options.begin);
  for (std::size_t i = 0; i < sentences && options.limit > 0; ++i)
    for (std::size_t n = 0; n < each; ++n) {
      const std::uint64_t stream = options.streams.empty() ? i : options.streams[i];
      rows.push_back({i, n, Random(options.sampling->seed, (stream << 20) + n)});
      selected.push_back(static_cast<Index>(i));
      tokens.push_back(first[i]);
    }
  steps.select(selected);
  std::vector<double> all;
  for (Index t = 0; t < options.limit && !rows.empty(); ++t) {
    steps.log_probabilities(tokens, all);
    const std::size_t vocabulary = all.size() / rows.size();
    std::vector<Row> going_on;
    tokens.clear(), selected.clear();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Row& row = rows[r];
      Hypothesis& one = results[row.sentence][row.number];
      const auto prefix = options.prefixes.empty() ? std::span<const Token>{} : options.prefixes[row.sentence];
      std::vector<double> p(all.begin() + static_cast<std::ptrdiff_t>(r * vocabulary),
                            all.begin() + static_cast<std::ptrdiff_t>((r + 1) * vocabulary));
      const auto forbid = [&](Token token) {
        if (token >= 0 && token < static_cast<Token>(vocabulary)) p[static_cast<std::size_t>(token)] = -HUGE_VAL;
      };
      for (const Token token : options.never) forbid(token);
      if (t < options.min_length) forbid(options.end);
      for (const Token token : repeating_tokens(one.tokens, options.no_repeat)) forbid(token);
      const bool forced = t < static_cast<Index>(prefix.size());
      const Token token = forced ? prefix[static_cast<std::size_t>(t)] : draw(p, *options.sampling, row.random);
      if (token < 0) continue;  // no token is possible: the hypothesis stays incomplete
      const double log_probability = all[r * vocabulary + static_cast<std::size_t>(token)];
      one.log_probability += log_probability;
      one.token_log_probabilities.push_back(log_probability);
      one.complete = token == options.end && !forced;
      if (one.complete) continue;
      one.tokens.push_back(token);
      going_on.push_back(row);
      selected.push_back(static_cast<Index>(r));
      tokens.push_back(token);
    }
    rows = std::move(going_on);
    steps.select(selected);
  }
  for (auto& of_sentence : results)
    for (Hypothesis& one : of_sentence)
      one.score = options.score(one.log_probability, static_cast<Index>(one.token_log_probabilities.size()));
  return results;
}

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
/// If `trees` is given, it receives the search tree of each sentence (SearchTree).
inline Hypotheses beam_search(DecodingSteps& steps, const SearchOptions& options,
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
    }
    std::erase_if(active, [&](Index i) { return beams[static_cast<std::size_t>(i)].over(); });
    steps.select(selected);
  }
  return finish_beams(beams);
}

/// Searches with a model on its device; `source` includes special tokens. A beam of 1 without scores is greedy decoding.
/// Devices that record steps use CUDA graphs (decode/graph_beam_search.hpp) if model and options allow it.
template <class Device, class Model>
Hypotheses beam_search(Device& device, const Model& model, const Sentences& source, const SearchOptions& options,
                       std::vector<SearchTree>* trees = nullptr) {
  check_options(options, source.size());
  if (options.greedy() && trees == nullptr) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();  // greedy decoding computes no probabilities
    const Token never = options.never.empty() ? -1 : options.never[0];
    Hypotheses all;
    for (auto& tokens :
         greedy(device, model, source, {options.begin, options.end, options.limit, never, options.allowed_tokens})) {
      const bool complete = std::ssize(tokens) < options.limit;
      all.push_back({{std::move(tokens), unknown, unknown, {}, complete}});
    }
    return all;
  }
  if constexpr (StepGraph<Device>::records && SupportsGraph<Model> && SupportsGraphBeam<Model>)
    if (model.supports_graph_beam() && fits_beam_graph(options))
      return graph_beam_search(device, model, source, options, trees);
  ModelSteps<Device, Model> steps(device, model, source, options.limit, options.rows(), options.allowed_tokens);
  return beam_search(steps, options, trees);
}

template <class Model>
Hypotheses beam_search(const Network<Model>& network, const Sentences& source, const SearchOptions& options,
                       std::vector<SearchTree>* trees = nullptr) {
  return beam_search(network.device(), *network, source, options, trees);
}

}  // namespace attn
