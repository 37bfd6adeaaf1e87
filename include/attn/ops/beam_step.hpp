#pragma once
#include "attn/core/error.hpp"
#include "attn/core/matrix.hpp"
#include "attn/ops/no_backend.hpp"

// beam_step   the end of a step of beam search, of sentences with `beam` rows each that stay where they are, with nothing
// asked of the host. Row i is a hypothesis whose log-probability is totals[i]; -inf says that it is none. Its choices are
// those that top_k gave.
//
//   log[step of the sentence][i] = the choices of row i
//
// The candidates of a sentence are the possible choices of its hypotheses, a total each: totals[i] +
// log_probabilities[i][j]. Those that do not end become its rows, the largest total first, of equals the lower row's, then
// the lower j's, as in decode/beam.hpp:
//
//   words[r], totals[r] = of the r-th;  rows beyond them are no hypotheses, and continue themselves with word 0
//
// What a row has been through is listed: table[i][t] is where its position t lies, n = ends[i] - i * capacity of them so
// far. New row r takes the list of the row that it continues, and its next position comes after its newest:
//
//   table[r][0 ... n) = table[row that r continues][0 ... n),  table[r][n] = newest[r] + 1, if n < capacity
//   newest[r], ends[r], positions[r] and the sentence's step grow by 1

namespace attn {

inline constexpr Index widest_held_beam = 16;

template <class Device>
struct BeamStepArgs {
  using Real = typename Device::Real;
  Matrix<const Token> best;              // rows x k, k <= beam + 1; -1: no choice
  Matrix<const Real> log_probabilities;  // rows x k
  Index beam;                            // rows of a sentence, at most widest_held_beam
  Token end;
  Token* words;                             // rows: what the next step reads
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
      args.beam >= 1 && args.beam <= widest_held_beam && args.best.cols <= args.beam + 1 && args.best.rows % args.beam == 0,
      "beam_step: ", args.best.cols, " choices of ", args.best.rows, " rows in beams of ", args.beam, "; beams hold 1 to ",
      widest_held_beam, " rows, and a row has one choice more at most");
}

template <class Device>
void beam_step(Device&, const BeamStepArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
