#pragma once

/// The CPU backend: the devices Cpu<float> and Cpu<double>, and all ops implemented with Eigen.

#include "attn/cpu/adam.hpp"
#include "attn/cpu/additive_attention.hpp"
#include "attn/cpu/argmax.hpp"
#include "attn/cpu/attention.hpp"
#include "attn/cpu/beam_step.hpp"
#include "attn/cpu/copy_rows.hpp"
#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/dropout.hpp"
#include "attn/cpu/embedding.hpp"
#include "attn/cpu/expression.hpp"
#include "attn/cpu/fill.hpp"
#include "attn/cpu/gather_rows.hpp"
#include "attn/cpu/greedy_step.hpp"
#include "attn/cpu/input_feeding.hpp"
#include "attn/cpu/kl_divergence.hpp"
#include "attn/cpu/layer_norm.hpp"
#include "attn/cpu/linear.hpp"
#include "attn/cpu/linear_argmax.hpp"
#include "attn/cpu/lstm.hpp"
#include "attn/cpu/moving_average.hpp"
#include "attn/cpu/ragged_product.hpp"
#include "attn/cpu/ragged_projection.hpp"
#include "attn/cpu/reduce_all.hpp"
#include "attn/cpu/reduce_columns.hpp"
#include "attn/cpu/reduce_rows.hpp"
#include "attn/cpu/repeat_heads.hpp"
#include "attn/cpu/repeat_rows.hpp"
#include "attn/cpu/rotary.hpp"
#include "attn/cpu/scatter_rows.hpp"
#include "attn/cpu/sgd.hpp"
#include "attn/cpu/softmax.hpp"
#include "attn/cpu/sum_of_squares.hpp"
#include "attn/cpu/top_k.hpp"
#include "attn/ops/lstm_cell.hpp"
#include "attn/ops/op_list.hpp"

#ifdef ATTN_OPS_ELSEWHERE
namespace attn {
ATTN_OP_LIST(extern template, Cpu<float>)
ATTN_OP_LIST(extern template, Cpu<double>)
}  // namespace attn
#endif
