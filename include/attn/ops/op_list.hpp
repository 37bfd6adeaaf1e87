#pragma once
#include "attn/ops/attention.hpp"
#include "attn/ops/cross_entropy.hpp"
#include "attn/ops/decoding.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/embedding.hpp"
#include "attn/ops/expression.hpp"
#include "attn/ops/layer_norm.hpp"
#include "attn/ops/linear.hpp"
#include "attn/ops/lstm.hpp"
#include "attn/ops/move_rows.hpp"
#include "attn/ops/optimisers.hpp"
#include "attn/ops/ragged_product.hpp"
#include "attn/ops/reductions.hpp"

// All ops of a device, for programs with many files. Op bodies dominate the compile time and are the same for all models.
// With ATTN_OPS_ELSEWHERE defined, files that include attn/cpu.hpp or attn/cuda.cuh do not compile them. One file of the
// program, compiled without it, instantiates them for all:
//
//   #include <attn/cpu.hpp>
//   namespace attn { ATTN_OP_LIST(template, Cpu<float>) }

#define ATTN_OP(DECLARE, Device, op, Op) DECLARE void op(Device&, const Op##Args<Device>&)
#define ATTN_OP_AND_GRADIENT(DECLARE, Device, op, Op) \
  ATTN_OP(DECLARE, Device, op, Op);                   \
  ATTN_OP(DECLARE, Device, op##_gradient, Op##Gradient)

#define ATTN_OP_LIST(DECLARE, Device)                                                          \
  ATTN_OP(DECLARE, Device, adam, Adam);                                                        \
  ATTN_OP(DECLARE, Device, argmax, Argmax);                                                    \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, attention, Attention);                                 \
  ATTN_OP(DECLARE, Device, attention_weights, AttentionWeights);                               \
  ATTN_OP(DECLARE, Device, beam_step, BeamStep);                                               \
  ATTN_OP(DECLARE, Device, cross_entropy, CrossEntropy);                                       \
  ATTN_OP(DECLARE, Device, dropout, Dropout);                                                  \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, embedding, Embedding);                                 \
  ATTN_OP(DECLARE, Device, exchange_average, ExchangeAverage);                                 \
  ATTN_OP(DECLARE, Device, fill, Fill);                                                        \
  ATTN_OP(DECLARE, Device, greedy_step, GreedyStep);                                           \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, input_feeding, InputFeeding);                          \
  ATTN_OP(DECLARE, Device, kl_divergence, KlDivergence);                                       \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, layer_norm, LayerNorm);                                \
  ATTN_OP(DECLARE, Device, linear, Linear);                                                    \
  ATTN_OP(DECLARE, Device, linear_argmax, LinearArgmax);                                       \
  ATTN_OP(DECLARE, Device, linear_input_gradient, LinearInputGradient);                        \
  ATTN_OP(DECLARE, Device, linear_weight_gradient, LinearWeightGradient);                      \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, lstm, Lstm);                                           \
  ATTN_OP(DECLARE, Device, lstm_cell, LstmCell);                                               \
  ATTN_OP(DECLARE, Device, move_rows, MoveRows);                                               \
  ATTN_OP(DECLARE, Device, moving_average, MovingAverage);                                     \
  ATTN_OP(DECLARE, Device, ragged_mix, RaggedProduct);                                         \
  ATTN_OP(DECLARE, Device, ragged_mix_transposed, RaggedProduct);                              \
  ATTN_OP(DECLARE, Device, ragged_projection, RaggedProjection);                               \
  ATTN_OP(DECLARE, Device, ragged_projection_input_gradient, RaggedProjectionInputGradient);   \
  ATTN_OP(DECLARE, Device, ragged_projection_weight_gradient, RaggedProjectionWeightGradient); \
  ATTN_OP(DECLARE, Device, ragged_scores, RaggedProduct);                                      \
  ATTN_OP(DECLARE, Device, reduce_all, ReduceAll);                                             \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, reduce_columns, ReduceColumns);                        \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, reduce_rows, ReduceRows);                              \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, repeat_heads, RepeatHeads);                            \
  ATTN_OP(DECLARE, Device, rotary, Rotary);                                                    \
  ATTN_OP(DECLARE, Device, sgd, Sgd);                                                          \
  ATTN_OP_AND_GRADIENT(DECLARE, Device, softmax, Softmax);                                     \
  ATTN_OP(DECLARE, Device, sum_of_squares, SumOfSquares);                                      \
  ATTN_OP(DECLARE, Device, top_k, TopK);                                                       \
  DECLARE void lstm(Device&, const std::array<LstmArgs<Device>, 2>&);                          \
  DECLARE void lstm_gradient(Device&, const std::array<LstmGradientArgs<Device>, 2>&);         \
  DECLARE void sinusoid(Device&, Matrix<typename Device::Scalar>, SinusoidOrder, double);
