#pragma once
#include "attn/ops/operands.hpp"

// Matrix products of two activations, per sentence. A_s and B_s are the rows of sentence s, and sentence s of `b_rows` has m
// rows:
//
//   ragged_scores           Y_s[:, 0:m] = scale * A_s B_sᵀ;  columns from m on are 0
//   ragged_mix              Y_s = scale * A_s[:, 0:m] B_s
//   ragged_mix_transposed   Y_s = scale * A_s[:, 0:m]ᵀ B_s;  B has rows as A, Y has the rows of `b_rows`
//
// Their gradients are the same three ops:
//
//   Y = ragged_scores(A, B):   dA = ragged_mix(dY, B),      dB = ragged_mix_transposed(dY, A)
//   Y = ragged_mix(A, B):      dA = ragged_scores(dY, B),   dB = ragged_mix_transposed(A, dY)
//
// A mix never reads columns of A from m on. If the sink sets, rows of Y outside all sentences are 0. Y overlaps no input.

namespace attn {

template <class Device>
struct RaggedProductArgs {
  InputOf<Device> a;  // rows of a x width, or of a mix x at least b_rows.longest
  Ragged a_rows;
  InputOf<Device> b;  // rows of b x width, or of a transposed mix rows of a x width
  Ragged b_rows;      // the same number of sentences
  double scale = 1;
  SinkOf<Device> y;  // rows of a x width or, of scores, x at least b_rows.longest; of a transposed mix rows of b x width
};

/// Throws an Error if two layouts, or a matrix of `cols` scores per row, do not fit.
inline void check_ragged_product(const char* op, const Ragged& a_rows, const Ragged& b_rows, Index cols) {
  refuse_lists(op, a_rows);
  refuse_lists(op, b_rows);
  require(a_rows.count == b_rows.count, op, ": the left side has ", a_rows.count, " sentences and the right side has ",
          b_rows.count, ". Pass the same number of sentences on both sides.");
  require(b_rows.longest <= cols, op, ": a sentence on the right side has ", b_rows.longest, " rows, but the scores have ",
          cols, " columns; use at least as many columns as the longest sentence has rows");
}

// Projects each sentence along its length: E K and F V of the Linformer.
//
//   ragged_projection                   y_s = E[:, 0:n_s] x_s          for each sentence s of n_s rows; y_s has k rows
//   ragged_projection_input_gradient    dx_s = E[:, 0:n_s]ᵀ dy_s
//   ragged_projection_weight_gradient   dE[:, 0:n_s] += dy_s x_sᵀ
//
// With blocks = h > 1, E stacks h matrices vertically, and matrix i projects columns i * width / h to
// (i + 1) * width / h - 1.

template <class Device>
struct RaggedProjectionArgs {
  InputOf<Device> x;  // rows x width
  Ragged rows;
  InputOf<Device> projection;  // (blocks * k) x maximum length
  int blocks = 1;
  OutputOf<Device> y;  // (sentences * k) x width
};

template <class Device>
struct RaggedProjectionInputGradientArgs {
  InputOf<Device> dy;  // (sentences * k) x width
  Ragged rows;
  InputOf<Device> projection;  // (blocks * k) x maximum length
  int blocks = 1;
  SinkOf<Device> dx;  // rows x width
};

template <class Device>
struct RaggedProjectionWeightGradientArgs {
  InputOf<Device> dy;  // (sentences * k) x width
  InputOf<Device> x;   // rows x width
  Ragged rows;
  int blocks = 1;
  Matrix<typename Device::Real> dprojection;  // (blocks * k) x maximum length, accumulates
};

}  // namespace attn
