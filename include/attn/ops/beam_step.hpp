#pragma once
#include "attn/core/error.hpp"
#include "attn/core/matrix.hpp"

// beam_step   the last part of a beam-search step, entirely on the device. Each sentence has `beam` rows, which keep their
// places. Row i is a hypothesis with log-probability totals[i]; -inf marks an empty row. Its choices come from
// top_k.
//
//   log[step of the sentence][i] = the choices of row i
//
// The candidates of a sentence are all choices of its hypotheses, with total totals[i] + log_probabilities[i][j]. The best
// candidates that do not choose `end` become its new rows. Order, as in decode/beam.hpp: largest total first, then lower
// row, then lower j.
//
//   tokens[r], totals[r] = of the r-th;  surplus rows become empty and continue themselves with token 0
//
// table lists each row's history: table[i][t] is the cache row of position t, for n = ends[i] - i * capacity positions. New
// row r copies the list of the row it continues; its next position follows its newest one:
//
//   table[r][0 ... n) = table[row that r continues][0 ... n),  table[r][n] = newest[r] + 1, if n < capacity
//   newest[r], ends[r], positions[r] and the sentence's step grow by 1

namespace attn {

inline constexpr Index max_graph_beam = 16;

template <class Device>
struct BeamStepArgs {
  using Real = typename Device::Real;
  Matrix<const Token> best;              // rows x k, k <= beam + 1; -1: no choice
  Matrix<const Real> log_probabilities;  // rows x k
  Index beam;                            // rows per sentence, at most max_graph_beam
  Token end;
  Token* tokens;                            // rows: input of the next step
  double* totals;                           // rows
  std::int32_t* step;                       // of each sentence
  Token* logged;                            // steps x rows x k: choices
  Real* logged_probabilities;               // steps x rows x k
  Matrix<std::int32_t> table;               // rows x capacity
  std::int32_t *newest, *ends, *positions;  // rows
};

template <class Device>
void check_beam_step(const BeamStepArgs<Device>& args) {
  require(
      args.beam >= 1 && args.beam <= max_graph_beam && args.best.cols <= args.beam + 1 && args.best.rows % args.beam == 0,
      "beam_step: ", args.best.cols, " choices for each of ", args.best.rows, " rows in beams of ", args.beam,
      ". A beam needs 1 to ", max_graph_beam, " rows, and a row at most one choice more than that.");
}

}  // namespace attn
