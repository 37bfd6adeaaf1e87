#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "attn/core/random.hpp"
#include "attn/decode/decoding_steps.hpp"
#include "attn/decode/repetition.hpp"
#include "attn/decode/search_options.hpp"

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
  double most = -HUGE_VAL;
  for (const Token token : order) most = std::max(most, p(token));
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
inline std::vector<std::vector<Hypothesis>> sample(DecodingSteps& steps, const SearchOptions& options) {
  const std::size_t sentences = steps.active().size(), each = static_cast<std::size_t>(options.n_best);
  struct Row {
    std::size_t sentence, number;
    Random random;
  };
  std::vector<std::vector<Hypothesis>> results(sentences, std::vector<Hypothesis>(each));
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
  for (auto& of_sentence : results)
    for (Hypothesis& one : of_sentence) one.complete = false;
  steps.select(selected);
  std::vector<double> all;
  for (Index t = 0; t < options.limit && !rows.empty(); ++t) {
    steps.log_probabilities(tokens, all);
    const std::size_t vocabulary = all.size() / rows.size();
    std::size_t going_on = 0;
    selected.clear();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Row& row = rows[r];
      Hypothesis& one = results[row.sentence][row.number];
      const auto prefix = options.prefixes.empty() ? std::span<const Token>{} : options.prefixes[row.sentence];
      std::vector<double> p(all.begin() + static_cast<std::ptrdiff_t>(r * vocabulary),
                            all.begin() + static_cast<std::ptrdiff_t>((r + 1) * vocabulary));
      const std::vector<double> model_p = p;
      const auto forbid = [&](Token token) {
        if (token >= 0 && token < static_cast<Token>(vocabulary)) p[static_cast<std::size_t>(token)] = -HUGE_VAL;
      };
      for (const Token token : options.never) forbid(token);
      if (t < options.min_length) forbid(options.end);
      for (const Token token : repeating_tokens(one.tokens, options.no_repeat)) forbid(token);
      const bool forced = t < static_cast<Index>(prefix.size());
      const Token token = forced ? prefix[static_cast<std::size_t>(t)] : draw(p, *options.sampling, row.random);
      if (token < 0) continue;  // no token is possible: the hypothesis stays incomplete
      const double log_probability = model_p[static_cast<std::size_t>(token)];
      one.log_probability += log_probability;
      one.token_log_probabilities.push_back(log_probability);
      one.complete = token == options.end && !forced;
      if (one.complete) continue;
      one.tokens.push_back(token);
      selected.push_back(static_cast<Index>(r));
      tokens[going_on] = token;
      if (going_on != r) rows[going_on] = row;
      ++going_on;
    }
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(going_on), rows.end());
    tokens.resize(going_on);
    steps.select(selected);
  }
  for (auto& of_sentence : results)
    for (Hypothesis& one : of_sentence)
      one.score = options.score(one.log_probability, static_cast<Index>(one.token_log_probabilities.size()));
  return results;
}

}  // namespace attn
