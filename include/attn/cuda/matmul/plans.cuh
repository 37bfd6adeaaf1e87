#pragma once
#include <bit>

#include "attn/core/memory.hpp"
#include "attn/cuda/support/memory.cuh"

namespace attn {

/// The cuBLASLt algorithm of every shape of matrix product seen so far. The rows of ragged batches change with every step,
/// so shapes are equal if their rows round up to the same size. This avoids repeated heuristic queries.
class Plans {
 public:
  using Key = std::array<Index, 12>;  // shape and layout of a product, with rows rounded up: see gemm.cuh

  explicit Plans(CudaMemory memory = {}) : memory_(memory) {}

  /// Rounds `rows` up to the next eighth of a power of two.
  static constexpr Index rounded(Index rows) {
    const Index step = rows <= 16 ? 16 : Index{1} << (std::bit_width(static_cast<std::uint64_t>(rows - 1)) - 4);
    return (rows + step - 1) / step * step;
  }

  const cublasLtMatmulAlgo_t* find(const Key& key) const {
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : &found->second;
  }
  const cublasLtMatmulAlgo_t& set(const Key& key, const cublasLtMatmulAlgo_t& algorithm) { return plans_[key] = algorithm; }
  std::size_t size() const { return plans_.size(); }
  /// Copies the plans of another device of the same GPU.
  void share(const Plans& other) { plans_ = other.plans_; }

  /// Bytes of workspace for the algorithms.
  static constexpr std::size_t kWorkspace = std::size_t{64} << 20;
  void* workspace() {
    if (workspace_.size() == 0)
      workspace_ = Buffer<std::byte, CudaMemory>(memory_, Index{kWorkspace}, "matrix products' scratch");
    return workspace_.data();
  }
  std::size_t capacity() const { return static_cast<std::size_t>(workspace_.size()); }

 private:
  std::map<Key, cublasLtMatmulAlgo_t> plans_;
  CudaMemory memory_;
  Buffer<std::byte, CudaMemory> workspace_;
};

}  // namespace attn
