#pragma once
#include "attn/ops/linear.hpp"
#include "attn/ops/operands.hpp"

// argmax   best[i] = the column of the largest logit of row i, excluding `except`; the first of equal ones

namespace attn {

template <class Device>
struct ArgmaxArgs {
  InputOf<Device> logits;  // rows x classes
  Token* best;             // rows
  Token except = -1;       // a class to exclude, or -1
};

// linear_argmax   best[i] = the column of the largest element of row i of x Wᵀ + b, excluding `except`; the first of equals
//
// A greedy decoding step needs only the argmax, so a device may avoid writing the logits.

template <class Device>
struct LinearArgmaxArgs {
  InputOf<Device> x;                              // rows x in
  InputOf<Device> weight;                         // classes x in
  const typename Device::Scalar* bias = nullptr;  // classes, or none
  OutputOf<Device> logits;                        // rows x classes: scratch; contents afterwards unspecified
  Token* best;                                    // rows
  Token except = -1;                              // a class to exclude, or -1
};

// top_k   the k largest log softmax(logits) of each row, in descending order; the lower class first among equals:
//
//   best[i][j]               a class, or -1 if row i has no more choices
//   log_probabilities[i][j]  its logit - the log-sum-exp of the whole row, or -inf
//
// Classes in `except` are never chosen. By default they count in the log-sum-exp, so the others keep the model's
// probabilities; with `renormalize` they do not, so the others' probabilities sum to 1. A row with only[i] >= 0 has one
// choice, that class, even if it is in `except`. Logits are finite or -inf; the log-probability of -inf is -inf. NaN is
// never chosen, and the log-probabilities of its row are meaningless.

template <class Device>
struct TopKArgs {
  InputOf<Device> logits;                           // rows x classes
  Matrix<Token> best;                               // rows x k
  Matrix<typename Device::Real> log_probabilities;  // rows x k
  const Token* except = nullptr;                    // excluded classes in any order, or null
  Index excepted = 0;                               // size of `except`
  const Token* only = nullptr;                      // rows: the one class to choose, or -1; nullptr for no such rows
  bool renormalize = false;                         // exclude `except` from the log-sum-exp
};

// greedy_step   the last part of a greedy decoding step, entirely on the device; rows keep their places:
//
//   tokens[i] = best[i];  written[step][i] = best[i] while row i has not ended;  row i ends when best[i] is the end token
//   remaining[step] = number of active rows;  each of `counters` grows by 1;  step grows by 1
//
// Counters hold positions and cache ends for the next step.

template <class Device>
struct GreedyStepArgs {
  const Token* best;  // rows
  Index rows;
  Token end;
  Token* tokens;            // rows: input of the next step
  std::int32_t* ended;      // rows: 1 or 0
  Token* written;           // steps x rows
  std::int32_t* step;       // 1
  std::int32_t* remaining;  // steps; may be host memory that the device can write
  std::int32_t* counters;   // counter_count
  Index counter_count;
};

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

inline constexpr Index max_graph_beam = 16;

template <class Device>
struct BeamStepArgs {
  Matrix<const Token> best;                               // rows x k, k <= beam + 1; -1: no choice
  Matrix<const typename Device::Real> log_probabilities;  // rows x k
  Index beam;                                             // rows per sentence, at most max_graph_beam
  Token end;
  Token* tokens;                                // rows: input of the next step
  double* totals;                               // rows
  std::int32_t* step;                           // of each sentence
  Token* logged;                                // steps x rows x k: choices
  typename Device::Real* logged_probabilities;  // steps x rows x k
  Matrix<std::int32_t> table;                   // rows x capacity
  std::int32_t *newest, *ends, *positions;      // rows
};

template <class Device>
void check_beam_step(const BeamStepArgs<Device>& args) {
  require(
      args.beam >= 1 && args.beam <= max_graph_beam && args.best.cols <= args.beam + 1 && args.best.rows % args.beam == 0,
      "beam_step: ", args.best.cols, " choices for each of ", args.best.rows, " rows in beams of ", args.beam,
      ". A beam needs 1 to ", max_graph_beam, " rows, and a row at most one choice more than that.");
}

}  // namespace attn
