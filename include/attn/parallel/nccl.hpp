#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstring>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/parallel/communicator.hpp"

namespace attn {

/// GPUs that add up gradients by NCCL, on a stream of their own; what the host has to say goes through another communicator,
/// such as Mpi, which also makes NCCL's first handshake. Each rank has a GPU of its own. Link attn::nccl.
class Nccl final : public Communicator {
 public:
  Nccl(Communicator& host, int gpu) : host_(host), gpu_(gpu) {
    check(cudaSetDevice(gpu), "choosing a GPU");
    ncclUniqueId id{};
    if (host.rank() == 0) check(ncclGetUniqueId(&id), "naming the ranks");
    const std::string first = host.gather({id.internal, sizeof id.internal})[0];
    std::memcpy(id.internal, first.data(), sizeof id.internal);
    check(ncclCommInitRank(&nccl_, static_cast<int>(host.ranks()), id, static_cast<int>(host.rank())), "joining the ranks");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
  }
  Nccl(const Nccl&) = delete;
  ~Nccl() override {
    (void)cudaStreamSynchronize(stream_);
    (void)ncclCommDestroy(nccl_);
    (void)cudaEventDestroy(event_);
    (void)cudaStreamDestroy(stream_);
  }

  Index rank() const override { return host_.rank(); }
  Index ranks() const override { return host_.ranks(); }
  Index rank_on_host() const override { return host_.rank_on_host(); }
  Index ranks_on_host() const override { return host_.ranks_on_host(); }
  std::string host(Index rank) const override { return host_.host(rank); }
  bool takes_gpu_memory() const override { return true; }
  std::vector<std::string> gather(const std::string& mine) override { return host_.gather(mine); }
  int stop_all(int status, const std::string& why) override { return host_.stop_all(status, why); }

  // Numbers that no stream made are the host's.
  void begin_sum(SharedNumbers numbers, void* stream = nullptr) override {
    if (stream == nullptr) return host_.begin_sum(numbers);
    after(stream);
    check(ncclAllReduce(numbers.data, numbers.data, size(numbers), type(numbers), ncclSum, nccl_, stream_), "summing");
  }
  void begin_sum_at(Index rank, SharedNumbers numbers, void* stream = nullptr) override {
    if (stream == nullptr) return host_.begin_sum_at(rank, numbers);
    after(stream);
    check(ncclReduce(numbers.data, numbers.data, size(numbers), type(numbers), ncclSum, static_cast<int>(rank), nccl_,
                     stream_),
          "summing");
  }
  void begin_broadcast(Index rank, SharedNumbers numbers, void* stream = nullptr) override {
    if (stream == nullptr) return host_.begin_broadcast(rank, numbers);
    after(stream);
    check(ncclBroadcast(numbers.data, numbers.data, size(numbers), type(numbers), static_cast<int>(rank), nccl_, stream_),
          "handing on");
  }
  void wait(void* stream = nullptr) override {
    if (stream == nullptr) return host_.wait();
    check(cudaEventRecord(event_, stream_), "waiting for sums");
    check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), event_, 0), "waiting for sums");
  }

 private:
  static std::size_t size(const SharedNumbers& numbers) { return static_cast<std::size_t>(numbers.count); }
  static ncclDataType_t type(const SharedNumbers& numbers) { return numbers.is_double ? ncclDouble : ncclFloat; }

  /// NCCL's stream waits for what is on the other one so far.
  void after(void* stream) {
    check(cudaEventRecord(event_, static_cast<cudaStream_t>(stream)), "waiting for gradients");
    check(cudaStreamWaitEvent(stream_, event_, 0), "waiting for gradients");
  }
  void check(cudaError_t status, const char* what) const {
    require(status == cudaSuccess, "GPU ", gpu_, ", ", what, ": ", cudaGetErrorString(status));
  }
  void check(ncclResult_t status, const char* what) const {
    require(status == ncclSuccess, "NCCL on GPU ", gpu_, ", ", what, ": ", ncclGetErrorString(status));
  }

  Communicator& host_;
  int gpu_;
  ncclComm_t nccl_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

}  // namespace attn
