#pragma once
#include <algorithm>

#include "attn/cpu/device.hpp"
#include "attn/ops/update_factors.hpp"

namespace attn::cpu {

/// update(at, count, factors) for consecutive pieces of the flat buffers. A piece stays in the nearest cache while `update`
/// makes several passes over it, and all its blocks have equal factors. Without a table, factors are UpdateFactors<T>{}.
template <class T, class Update>
void for_each_run(Cpu<T>& device, Index total, const UpdateFactors<T>* table, const Update& update) {
  constexpr Index kChunk = 1 << 14, kPiece = 1 << 10;
  device.parallel((total + kChunk - 1) / kChunk, [&](Index chunk, int) {
    for (Index at = chunk * kChunk, end = std::min(total, at + kChunk), next = 0; at < end; at = next) {
      const Index limit = std::min(end, at + kPiece);
      const UpdateFactors<T> factors = table == nullptr ? UpdateFactors<T>{} : table[at / kParameterBlock];
      next = limit;
      if (table != nullptr)
        for (next = at + kParameterBlock; next < limit && table[next / kParameterBlock] == factors;)
          next += kParameterBlock;
      next = std::min(next, limit);
      update(at, next - at, factors);
    }
  });
}

}  // namespace attn::cpu
