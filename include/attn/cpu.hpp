#pragma once

/// The CPU backend: the devices Cpu<float> and Cpu<double>, and all ops implemented with Eigen.

#include "attn/cpu/attention.hpp"
#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/decoding.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/dropout.hpp"
#include "attn/cpu/embedding.hpp"
#include "attn/cpu/expression.hpp"
#include "attn/cpu/input_feeding.hpp"
#include "attn/cpu/layer_norm.hpp"
#include "attn/cpu/linear.hpp"
#include "attn/cpu/lstm.hpp"
#include "attn/cpu/move_rows.hpp"
#include "attn/cpu/optimisers.hpp"
#include "attn/cpu/ragged_product.hpp"
#include "attn/cpu/reductions.hpp"
#include "attn/ops/op_list.hpp"

#ifdef ATTN_OPS_ELSEWHERE
namespace attn {
ATTN_OP_LIST(extern template, Cpu<float>)
ATTN_OP_LIST(extern template, Cpu<double>)
}  // namespace attn
#endif
