#pragma once
#include "attn/cuda/dropout.cuh"
#include "attn/ops/residual.hpp"

namespace attn {

template <class T>
void residual(Cuda<T>& device, const ResidualArgs<Cuda<T>>& args) {
  add_dropped<T>(device, args.x, args.branch, args.dropout, args.z);
}

}  // namespace attn
