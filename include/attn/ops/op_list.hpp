#pragma once

// All ops of a device, for programs with many files. Op bodies dominate the compile time and are the same for all models.
// With ATTN_OPS_ELSEWHERE defined, files that include attn/cpu.hpp or attn/cuda.cuh do not compile them. One file of the
// program, compiled without it, instantiates them for all:
//
//   #include <attn/cpu.hpp>
//   namespace attn { ATTN_OP_LIST(template, Cpu<float>) }

#define ATTN_OP_LIST(DECLARE, Device)                                                                         \
  DECLARE void adam(Device&, const AdamArgs<Device>&);                                                        \
  DECLARE void additive_attention(Device&, const AdditiveAttentionArgs<Device>&);                             \
  DECLARE void additive_attention_gradient(Device&, const AdditiveAttentionGradientArgs<Device>&);            \
  DECLARE void additive_attention_weights(Device&, const AdditiveAttentionWeightsArgs<Device>&);              \
  DECLARE void argmax(Device&, const ArgmaxArgs<Device>&);                                                    \
  DECLARE void attention(Device&, const AttentionArgs<Device>&);                                              \
  DECLARE void attention_gradient(Device&, const AttentionGradientArgs<Device>&);                             \
  DECLARE void attention_weights(Device&, const AttentionWeightsArgs<Device>&);                               \
  DECLARE void beam_step(Device&, const BeamStepArgs<Device>&);                                               \
  DECLARE void copy_rows(Device&, const CopyRowsArgs<Device>&);                                               \
  DECLARE void cross_entropy(Device&, const CrossEntropyArgs<Device>&);                                       \
  DECLARE void cross_entropy_gradient(Device&, const CrossEntropyGradientArgs<Device>&);                      \
  DECLARE void dropout(Device&, const DropoutArgs<Device>&);                                                  \
  DECLARE void embedding(Device&, const EmbeddingArgs<Device>&);                                              \
  DECLARE void embedding_gradient(Device&, const EmbeddingGradientArgs<Device>&);                             \
  DECLARE void exchange_average(Device&, const ExchangeAverageArgs<Device>&);                                 \
  DECLARE void fill(Device&, const FillArgs<Device>&);                                                        \
  DECLARE void gather_rows(Device&, const GatherRowsArgs<Device>&);                                           \
  DECLARE void gather_rows_gradient(Device&, const GatherRowsGradientArgs<Device>&);                          \
  DECLARE void input_feeding(Device&, const InputFeedingArgs<Device>&);                                       \
  DECLARE void input_feeding_gradient(Device&, const InputFeedingGradientArgs<Device>&);                      \
  DECLARE void kl_divergence(Device&, const KlDivergenceArgs<Device>&);                                       \
  DECLARE void kl_divergence_gradient(Device&, const KlDivergenceGradientArgs<Device>&);                      \
  DECLARE void layer_norm(Device&, const LayerNormArgs<Device>&);                                             \
  DECLARE void layer_norm_gradient(Device&, const LayerNormGradientArgs<Device>&);                            \
  DECLARE void linear(Device&, const LinearArgs<Device>&);                                                    \
  DECLARE void linear_argmax(Device&, const LinearArgmaxArgs<Device>&);                                       \
  DECLARE void linear_input_gradient(Device&, const LinearInputGradientArgs<Device>&);                        \
  DECLARE void linear_weight_gradient(Device&, const LinearWeightGradientArgs<Device>&);                      \
  DECLARE void lstm(Device&, const LstmArgs<Device>&);                                                        \
  DECLARE void lstm(Device&, const std::array<LstmArgs<Device>, 2>&);                                         \
  DECLARE void lstm_cell(Device&, const LstmCellArgs<Device>&);                                               \
  DECLARE void lstm_gradient(Device&, const LstmGradientArgs<Device>&);                                       \
  DECLARE void lstm_gradient(Device&, const std::array<LstmGradientArgs<Device>, 2>&);                        \
  DECLARE void moving_average(Device&, const MovingAverageArgs<Device>&);                                     \
  DECLARE void ragged_mix(Device&, const RaggedMixArgs<Device>&);                                             \
  DECLARE void ragged_mix_transposed(Device&, const RaggedMixTransposedArgs<Device>&);                        \
  DECLARE void ragged_projection(Device&, const RaggedProjectionArgs<Device>&);                               \
  DECLARE void ragged_projection_input_gradient(Device&, const RaggedProjectionInputGradientArgs<Device>&);   \
  DECLARE void ragged_projection_weight_gradient(Device&, const RaggedProjectionWeightGradientArgs<Device>&); \
  DECLARE void ragged_scores(Device&, const RaggedScoresArgs<Device>&);                                       \
  DECLARE void reduce_all(Device&, const ReduceAllArgs<Device>&);                                             \
  DECLARE void reduce_columns(Device&, const ReduceColumnsArgs<Device>&);                                     \
  DECLARE void reduce_columns_gradient(Device&, const ReduceColumnsGradientArgs<Device>&);                    \
  DECLARE void reduce_rows(Device&, const ReduceRowsArgs<Device>&);                                           \
  DECLARE void reduce_rows_gradient(Device&, const ReduceRowsGradientArgs<Device>&);                          \
  DECLARE void repeat_heads(Device&, const RepeatHeadsArgs<Device>&);                                         \
  DECLARE void repeat_heads_gradient(Device&, const RepeatHeadsGradientArgs<Device>&);                        \
  DECLARE void repeat_rows(Device&, const RepeatRowsArgs<Device>&);                                           \
  DECLARE void repeat_rows_gradient(Device&, const RepeatRowsGradientArgs<Device>&);                          \
  DECLARE void rotary(Device&, const RotaryArgs<Device>&);                                                    \
  DECLARE void scatter_rows(Device&, const ScatterRowsArgs<Device>&);                                         \
  DECLARE void sgd(Device&, const SgdArgs<Device>&);                                                          \
  DECLARE void sinusoid(Device&, Matrix<Device::Scalar>, SinusoidOrder, double);                              \
  DECLARE void softmax(Device&, const SoftmaxArgs<Device>&);                                                  \
  DECLARE void softmax_gradient(Device&, const SoftmaxGradientArgs<Device>&);                                 \
  DECLARE void sum_of_squares(Device&, const SumOfSquaresArgs<Device>&);                                      \
  DECLARE void greedy_step(Device&, const GreedyStepArgs<Device>&);                                           \
  DECLARE void top_k(Device&, const TopKArgs<Device>&);
