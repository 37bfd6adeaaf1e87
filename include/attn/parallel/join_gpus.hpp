#pragma once
#include <memory>

#include "attn/core/error.hpp"
#include "attn/parallel/communicator.hpp"
#ifdef ATTN_NCCL
#include "attn/parallel/nccl.hpp"
#endif

namespace attn {

/// The same ranks with sums on their GPUs, by NCCL; none where the program is built without it, where ranks share a GPU and where
/// there is one rank: then sums go through the host. `required`: NCCL or an Error, for one rank too.
inline std::unique_ptr<Communicator> join_gpus([[maybe_unused]] Communicator& host, [[maybe_unused]] int gpu,
                                               bool required = false) {
#ifdef ATTN_NCCL
  if (required || (host.ranks() > 1 && Nccl::shared_gpu(host, gpu).empty())) return std::make_unique<Nccl>(host, gpu);
#else
  require(!required, "this program was built without NCCL: build it with -DATTN_NCCL=ON, or let sums go through the host");
#endif
  return nullptr;
}

}  // namespace attn
