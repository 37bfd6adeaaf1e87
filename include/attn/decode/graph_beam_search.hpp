#pragma once
#include "attn/core/step_graph.hpp"
#include "attn/decode/beam.hpp"
#include "attn/decode/decoder_model.hpp"

namespace attn {

/// Whether every step applies the same rules to the result of top_k, as a graph requires.
inline bool fits_beam_graph(const SearchOptions& options) {
  return options.beam <= max_graph_beam && options.min_length == 0 && options.no_repeat == 0 && options.prefixes.empty() &&
         options.allowed_tokens.empty() && !options.sampling;
}

/// Beam search (decode/search.hpp) with one CUDA graph per step. The device selects the live hypotheses (ops/decoding.hpp)
/// and logs the choices. Every `look_every` steps, the host replays the log with the rules of beam_search to get
/// hypotheses, scores and ends. Finished sentences stay in the batch until they are half of it. Results equal those of
/// beam_search, apart from rounding in products of more rows.
template <class Device, SupportsGraphBeam Model>
Hypotheses graph_beam_search(Device& device, const Model& model, const Sentences& source, const SearchOptions& options,
                             std::vector<SearchTree>* trees = nullptr, Index look_every = 8) {
  using Real = typename Device::Real;
  check_options(options, source.size());
  require(fits_beam_graph(options), "graph_beam_search supports beams up to ", max_graph_beam,
          " and no token constraints. Call beam_search.");
  require(model.supports_graph_beam(),
          "graph_beam_search: this model's heads are too wide, or its attention has no CUDA graph. Call beam_search.");
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Index beam = options.beam, k = beam + 1;
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, source), options.limit, beam);
  std::vector<Beam> beams = begin_beams(state.active().size(), options, trees);

  // `beam` rows per sentence; the first is the empty hypothesis.
  std::vector<Token> tokens;
  std::vector<double> totals;
  std::vector<Index> selected;
  for (const Token token : first_tokens(state, options.begin)) {
    selected.insert(selected.end(), static_cast<std::size_t>(beam), static_cast<Index>(totals.size()) / beam);
    tokens.insert(tokens.end(), static_cast<std::size_t>(beam), token);
    totals.push_back(0);
    totals.resize(tokens.size(), kNone);
  }
  state.select(selected);

  Choices choices{.k = k, .tokens = {}, .log_probabilities = {}};
  std::vector<Real> probabilities;
  const std::vector<std::vector<Token>> blocked(static_cast<std::size_t>(beam));
  while (!tokens.empty() && state.length() < options.limit) {
    const auto rows = static_cast<Index>(tokens.size());
    const Index sentences = rows / beam, room = options.limit - state.length();
    const bool many = sentences > 8;
    const Index enough = many ? sentences / 2 : 0;  // a new graph does not pay off for few sentences
    const auto beam_of = [&](Index sentence) -> Beam& {
      return beams[static_cast<std::size_t>(state.active()[static_cast<std::size_t>(sentence * beam)])];
    };
    Tape<Device> graph_tape(device);
    const auto on_device = state.begin_beam_graph(graph_tape, tokens);
    double* const all_totals = graph_tape.upload(totals.data(), rows);
    std::int32_t* const step_of = graph_tape.template array<std::int32_t>(sentences);
    const Index most = std::min(look_every, room), logged = most * rows * k;
    Token* const log = graph_tape.template array<Token>(logged);
    Real* const logged_probabilities = graph_tape.template array<Real>(logged);
    const auto excepted = static_cast<Index>(options.never.size());
    const Token* const except = excepted > 0 ? graph_tape.upload(options.never.data(), excepted) : nullptr;
    StepGraph<Device> graph(device);
    const auto make_step = [&] {
      Tape<Device> step(device);
      const auto logits = next_logits(step, model, state, {});
      const Matrix<Token> best(step.template array<Token>(rows * k), rows, k);
      const Matrix<Real> log_probabilities(step.template array<Real>(rows * k), rows, k);
      top_k(device, {logits, best, log_probabilities, except, excepted, nullptr, options.renormalize});
      beam_step(device, {.best = best,
                         .log_probabilities = log_probabilities,
                         .beam = beam,
                         .end = options.end,
                         .tokens = on_device.tokens,
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
    const auto replay = [&](Index count) {  // returns the number of unfinished sentences
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
      if (steps < room && many) graph.run(make_step), ++steps, ++unseen;  // the device computes one step during the replay
      going_on = replay(count);
    }
    if (unseen > 0) read_log(unseen), going_on = replay(unseen);
    if (going_on == 0 || steps == room) break;

    selected.clear(), tokens.clear(), totals.clear();
    for (Index sentence = 0; sentence < sentences; ++sentence) {
      const Beam& its = beam_of(sentence);
      for (Index row = 0; row < beam && !its.over(); ++row) {
        selected.push_back(sentence * beam + row);
        tokens.push_back(row < its.rows() ? its.newest(row) : 0);
        totals.push_back(row < its.rows() ? its.total(row) : kNone);
      }
    }
    state.end_beam_graph(device, steps);
    state.select(selected);
  }
  return finish_beams(beams);
}

}  // namespace attn
