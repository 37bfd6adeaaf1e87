#include <doctest/doctest.h>

#include "attn/cuda/device.cuh"
#include "attn/parallel/join_ranks.hpp"
#include "cuda/backend.hpp"
#include "parallel/thread_ranks.hpp"
#include "support/errors.hpp"

// One GPU is one rank of NCCL; what several do is scripts/gpu_parallel.sh's and several GPUs' to show.

#ifdef ATTN_NCCL

TEST_CASE("NCCL: one rank sums and broadcasts and waits without changing its values") {
  if (const std::string why = no_gpu(); !why.empty()) {
    MESSAGE("skipped: ", why);
    return;
  }
  attn::Communicator host;
  CHECK(attn::join_gpus(host, 0) == nullptr);  // nothing to sum
  const auto nccl = attn::join_gpus(host, 0, true);
  REQUIRE(nccl != nullptr);
  CHECK(nccl->name() == "NCCL");
  CHECK_FALSE(nccl->alone());
  attn::Cuda<float> device;
  std::vector<float> before(100'003), after(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<float>(i) / 3;
  const attn::Buffer<float, attn::CudaMemory> numbers(device, std::ssize(before));
  device.upload(numbers.data(), before.data(), numbers.size());
  for (int step = 0; step < 100; ++step) {  // more waits than are kept
    nccl->begin_sum({numbers.data(), numbers.size()}, device.stream());
    nccl->begin_sum_at(0, {numbers.data(), 5}, device.stream());
    nccl->begin_broadcast(0, {numbers.data(), numbers.size()}, device.stream());
    nccl->wait(device.stream());
  }
  device.download(after.data(), numbers.data(), numbers.size());
  CHECK(after == before);
  const double waited = nccl->seconds_waited();
  CHECK(waited > 0);
  CHECK(waited < 10);
  CHECK(nccl->seconds_waited() == waited);
  double loss = 2.5;
  nccl->sum(&loss, 1);  // the host's
  CHECK(loss == 2.5);
}

TEST_CASE("NCCL: ranks sharing a GPU get an error or sum through the host") {
  if (const std::string why = no_gpu(); !why.empty()) {
    MESSAGE("skipped: ", why);
    return;
  }
  const std::string error =
      error_of([] { thread_ranks::on_ranks(2, [](attn::Communicator& rank) { attn::join_gpus(rank, 0, true); }); });
  CHECK(error == "rank 1 on thread 1 has the GPU of rank 0: NCCL needs one GPU per rank");
  thread_ranks::on_ranks(2, [](attn::Communicator& rank) { attn::require(!attn::join_gpus(rank, 0), "they share one"); });
}

#else

TEST_CASE("NCCL: a build without NCCL reports it on request") {
  attn::Communicator host;
  CHECK(attn::join_gpus(host, 0) == nullptr);
  CHECK(contains(error_of([&] { attn::join_gpus(host, 0, true); }), "built without NCCL. Build it with -DATTN_NCCL=ON"));
}

#endif
