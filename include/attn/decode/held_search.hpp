#pragma once
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "attn/core/sentences.hpp"
#include "attn/decode/beam.hpp"
#include "attn/decode/first_words.hpp"
#include "attn/decode/step_graph.hpp"
#include "attn/ops/beam_step.hpp"
#include "attn/ops/top_k.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// Models whose states are caches that attention of one query looks at, so that lists can say which row continues which.
template <class Model>
concept HoldsBeams = requires(const Model& model) {
  { model.holds_beams() } -> std::same_as<bool>;
};

/// Whether each step's choice is the same function of what top_k gives.
inline bool can_be_held(const SearchOptions& options) {
  return options.beam <= widest_held_beam && options.min_length == 0 && options.no_repeat == 0 &&
         options.prefixes.empty() && options.among.empty() && !options.sampling;
}

/// A search (decode/search.hpp) whose steps ask nothing of the host: each is a graph that is launched again and again. The
/// device chooses which hypotheses live on (ops/beam_step.hpp) and logs what it chose from. The host looks every few steps,
/// and replays that log with the rules of any other search: from there come hypotheses, scores and ends. Sentences whose
/// search is over are carried along until they are half of the rows. Results are those of the other search, but for how the
/// device rounds products of more rows.
template <class Device, HoldsBeams Model>
std::vector<std::vector<Hypothesis>> held_search(Device& device, const Model& model, const Sentences& source,
                                                 const SearchOptions& options, std::vector<SearchTree>* trees = nullptr,
                                                 Index look_every = 8) {
  using Real = typename Device::Real;
  check(options, source.size());
  require(can_be_held(options), "held_search: a beam of more than ", widest_held_beam,
          ", or what forbids or forces some tokens; search(...) takes them");
  require(model.holds_beams(), "held_search: this model's attention heads are too wide for it; search(...) takes them");
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Index beam = options.beam, k = beam + 1;
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, source), options.limit, beam);
  std::vector<Beam> beams = begin_beams(state.alive().size(), options, trees);

  // Of each sentence `beam` rows, of which the first is its hypothesis without words.
  std::vector<Token> words;
  std::vector<double> totals;
  std::vector<Index> selected;
  for (const Token word : first_words(state, options.begin)) {
    selected.insert(selected.end(), static_cast<std::size_t>(beam), static_cast<Index>(totals.size()) / beam);
    words.insert(words.end(), static_cast<std::size_t>(beam), word);
    totals.push_back(0);
    totals.resize(words.size(), kNone);
  }
  state.select(selected);

  Choices choices{.k = k, .tokens = {}, .log_probabilities = {}};
  std::vector<Real> probabilities;
  const std::vector<std::vector<Token>> blocked(static_cast<std::size_t>(beam));
  while (!words.empty() && state.length() < options.limit) {
    const auto rows = static_cast<Index>(words.size());
    const Index sentences = rows / beam, room = options.limit - state.length();
    const bool many = sentences > 8;
    const Index enough = many ? sentences / 2 : 0;  // few are not worth another graph
    const auto beam_of = [&](Index sentence) -> Beam& {
      return beams[static_cast<std::size_t>(state.alive()[static_cast<std::size_t>(sentence * beam)])];
    };
    Tape<Device> held(device);
    const auto on_device = state.hold_beams(held, words);
    double* const all_totals = held.upload(totals.data(), rows);
    std::int32_t* const step_of = held.template array<std::int32_t>(sentences);
    const Index most = std::min(look_every, room), logged = most * rows * k;
    Token* const log = held.template array<Token>(logged);
    Real* const logged_probabilities = held.template array<Real>(logged);
    const auto excepted = static_cast<Index>(options.never.size());
    const Token* const except = excepted > 0 ? held.upload(options.never.data(), excepted) : nullptr;
    StepGraph<Device> graph(device);
    const auto make_step = [&] {
      Tape<Device> step(device);
      const auto logits = model.next(step, state, {});
      const Matrix<Token> best(step.template array<Token>(rows * k), rows, k);
      const Matrix<Real> log_probabilities(step.template array<Real>(rows * k), rows, k);
      top_k(device, {logits, best, log_probabilities, except, excepted});
      beam_step(device, {.best = best,
                         .log_probabilities = log_probabilities,
                         .beam = beam,
                         .end = options.end,
                         .words = on_device.words,
                         .totals = all_totals,
                         .step = step_of,
                         .logged = log,
                         .logged_probabilities = logged_probabilities,
                         .table = on_device.table,
                         .newest = on_device.newest,
                         .ends = on_device.ends,
                         .positions = on_device.positions});
    };
    const auto read_log = [&](Index count) {
      const Index seen = count * rows * k;
      choices.tokens.resize(static_cast<std::size_t>(seen));
      probabilities.resize(static_cast<std::size_t>(seen));
      device.download(choices.tokens.data(), log, seen);
      device.download(probabilities.data(), logged_probabilities, seen);
      choices.log_probabilities.assign(probabilities.begin(), probabilities.end());
      device.zero(step_of, sentences);
    };
    const auto replay = [&](Index count) {  // how many searches go on
      Index going_on = 0;
      for (Index sentence = 0; sentence < sentences; ++sentence) {
        Beam& its = beam_of(sentence);
        for (Index i = 0; i < count && !its.over(); ++i) its.step(choices, i * rows + sentence * beam, blocked);
        going_on += its.over() ? 0 : 1;
      }
      return going_on;
    };

    device.zero(step_of, sentences);
    Index steps = 0, unseen = 0, going_on = sentences;
    while (steps < room && going_on > enough) {
      for (; unseen < most && steps < room; ++unseen, ++steps) graph.run(make_step);
      read_log(unseen);
      const Index count = std::exchange(unseen, 0);
      if (steps < room && many) graph.run(make_step), ++steps, ++unseen;  // the device makes one while the host looks
      going_on = replay(count);
    }
    if (unseen > 0) read_log(unseen), going_on = replay(unseen);
    if (going_on == 0 || steps == room) break;

    selected.clear(), words.clear(), totals.clear();
    for (Index sentence = 0; sentence < sentences; ++sentence) {
      const Beam& its = beam_of(sentence);
      for (Index row = 0; row < beam && !its.over(); ++row) {
        selected.push_back(sentence * beam + row);
        words.push_back(row < its.rows() ? its.newest(row) : 0);
        totals.push_back(row < its.rows() ? its.total(row) : kNone);
      }
    }
    state.let_go_beams(device, steps);
    state.select(selected);
  }
  return finish_beams(beams);
}

}  // namespace attn
