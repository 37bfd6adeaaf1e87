#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/reduce_all.hpp"

namespace attn {

template <class T>
void reduce_all(Cpu<T>& device, const ReduceAllArgs<Cpu<T>>& args) {
  const Index block = cpu::worthwhile_rows(args.x.cols);  // fixed blocks: the same bits for any number of threads
  const Index blocks = (args.x.rows + block - 1) / block;
  T* sums = device.results(blocks);
  device.parallel(blocks, [&](Index b, int) {
    sums[b] = 0;
    for (Index i = b * block; i < std::min(args.x.rows, (b + 1) * block); ++i) sums[b] += cpu::row_array(args.x, i).sum();
  });
  T total = 0;
  for (Index b = 0; b < blocks; ++b) total += sums[b];
  *args.y += T(args.scale) * total;
}

}  // namespace attn
