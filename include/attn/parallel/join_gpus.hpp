#pragma once
#include <memory>

#include "attn/core/error.hpp"
#include "attn/parallel/communicator.hpp"
#ifdef ATTN_NCCL
#include "attn/parallel/nccl.hpp"
#endif

namespace attn {

/// The same ranks with GPU sums over NCCL. Null, i.e. sums through the host, without NCCL, with a shared GPU or with one
/// rank. `required`: use NCCL or throw Error, also for one rank.
inline std::unique_ptr<Communicator> join_gpus([[maybe_unused]] Communicator& host, [[maybe_unused]] int gpu,
                                               bool required = false) {
#ifdef ATTN_NCCL
  if (required || (host.ranks() > 1 && Nccl::shared_gpu(host, gpu).empty())) return std::make_unique<Nccl>(host, gpu);
#else
  require(!required,
          "this program was built without NCCL. Build it with -DATTN_NCCL=ON, or add up gradients through the host.");
#endif
  return nullptr;
}

}  // namespace attn
