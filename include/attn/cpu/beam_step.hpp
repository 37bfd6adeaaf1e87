#pragma once
#include <algorithm>
#include <array>
#include <limits>

#include "attn/cpu/device.hpp"
#include "attn/ops/beam_step.hpp"

namespace attn {
namespace cpu {

/// The step of one sentence.
template <class T>
void step_of_beam(const BeamStepArgs<Cpu<T>>& args, Index sentence) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  struct Row {
    double total = kNone;
    Token token = 0;
    Index continues = 0;
  };
  const Index beam = args.beam, k = args.best.cols, first = sentence * beam;
  std::array<Row, max_graph_beam + 1> rows;  // the best so far, and one to drop
  Index count = 0;
  for (Index i = first; i < first + beam; ++i)
    for (Index j = 0; j < k; ++j) {
      const Token token = args.best(i, j);
      const T log_probability = args.log_probabilities(i, j);
      const Index at = (args.step[sentence] * args.best.rows + i) * k + j;
      args.logged[at] = token;
      args.logged_probabilities[at] = log_probability;
      if (!(args.totals[i] > kNone) || token < 0 || !(log_probability > T(kNone)) || token == args.end) continue;
      const Row candidate{args.totals[i] + double{log_probability}, token, i};
      Index place = count;  // after equal candidates
      for (; place > 0 && rows[static_cast<std::size_t>(place - 1)].total < candidate.total; --place)
        rows[static_cast<std::size_t>(place)] = rows[static_cast<std::size_t>(place - 1)];
      rows[static_cast<std::size_t>(place)] = candidate;
      count = std::min(count + 1, beam);
    }
  for (Index r = count; r < beam; ++r) rows[static_cast<std::size_t>(r)] = {kNone, 0, first + r};

  const Index filled = args.ends[first] - first * args.table.cols;
  std::array<std::int32_t, max_graph_beam> column;
  for (Index t = 0; t < filled; ++t) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(beam); ++r) column[r] = args.table(rows[r].continues, t);
    for (std::size_t r = 0; r < static_cast<std::size_t>(beam); ++r)
      args.table(first + static_cast<Index>(r), t) = column[r];
  }
  for (Index r = 0; r < beam; ++r) {
    const Index i = first + r;
    args.tokens[i] = rows[static_cast<std::size_t>(r)].token;
    args.totals[i] = rows[static_cast<std::size_t>(r)].total;
    ++args.newest[i], ++args.ends[i], ++args.positions[i];
    if (filled < args.table.cols) args.table(i, filled) = args.newest[i];
  }
  ++args.step[sentence];
}

}  // namespace cpu

template <class T>
void beam_step(Cpu<T>& device, const BeamStepArgs<Cpu<T>>& args) {
  check_beam_step(args);
  device.parallel(args.best.rows / args.beam, [&](Index sentence, int) { cpu::step_of_beam(args, sentence); });
}

}  // namespace attn
