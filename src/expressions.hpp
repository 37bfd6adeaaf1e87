#pragma once
#include "attn/ops/expression.hpp"

// The expressions of the library's models. The files of the ops compile them. A model with another expression compiles it on
// the CPU and does not link on a GPU: add it here.

#define ATTN_EXPRESSION(DECLARE, Device, ...)                                            \
  DECLARE void evaluate_expression(Device&, const ExpressionArgs<Device, __VA_ARGS__>&); \
  DECLARE void evaluate_expression_gradient(Device&, const ExpressionGradientArgs<Device, __VA_ARGS__>&);

#define ATTN_EXPRESSIONS(DECLARE, Device)                                                                              \
  ATTN_EXPRESSION(DECLARE, Device, Apply<functions::Tanh, DenseLeaf<Device::Scalar>>)                                  \
  ATTN_EXPRESSION(DECLARE, Device,                                                                                     \
                  Apply<functions::Add, Apply<functions::Tanh, DenseLeaf<Device::Scalar>>, DenseLeaf<Device::Scalar>>) \
  ATTN_EXPRESSION(DECLARE, Device, Apply<functions::Multiply, DenseLeaf<Device::Scalar>, DropoutLeaf>)                 \
  ATTN_EXPRESSION(DECLARE, Device,                                                                                     \
                  Apply<functions::Add, DenseLeaf<Device::Scalar>,                                                     \
                        Apply<functions::Multiply, DenseLeaf<Device::Scalar>, DropoutLeaf>>)                           \
  ATTN_DROPPED_ACTIVATION(DECLARE, Device, GeluExact)                                                                  \
  ATTN_DROPPED_ACTIVATION(DECLARE, Device, Silu)                                                                       \
  ATTN_DROPPED_ACTIVATION(DECLARE, Device, Tanh)

#define ATTN_DROPPED_ACTIVATION(DECLARE, Device, Function) \
  ATTN_EXPRESSION(DECLARE, Device,                         \
                  Apply<functions::Multiply, Apply<functions::Function, DenseLeaf<Device::Scalar>>, DropoutLeaf>)
