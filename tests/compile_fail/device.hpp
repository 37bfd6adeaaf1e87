#pragma once
#include "attn/core/memory.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/linear.hpp"
#include "attn/ops/move_rows.hpp"

// A device without bodies, which is all that a compiler needs to judge a layer.

struct Device {
  using Scalar = float;
  using Real = float;
  using Memory = attn::HostMemory;

  attn::Arena<Memory> activations;
  attn::Pool<Memory> gradients;
  attn::Arena<attn::HostMemory> tape_nodes;
  std::uint64_t tapes_begun = 0;

  void zero(attn::Matrix<float> matrix);
};

void dropout(Device&, const attn::DropoutArgs<Device>&);
void linear(Device&, const attn::LinearArgs<Device>&);
void linear_input_gradient(Device&, const attn::LinearInputGradientArgs<Device>&);
void linear_weight_gradient(Device&, const attn::LinearWeightGradientArgs<Device>&);
void move_rows(Device&, const attn::MoveRowsArgs<Device>&);
