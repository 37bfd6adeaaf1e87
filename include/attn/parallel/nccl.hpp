#pragma once
#include <cuda_runtime.h>
#include <nccl.h>

#include <exception>

#include "attn/parallel/through_host.cuh"

namespace attn {

/// Sums GPU gradients with NCCL on a separate stream. Host data goes through another communicator, such as Mpi, which also
/// exchanges NCCL's id. Each rank needs its own GPU. Link attn::nccl. A single rank runs NCCL too, to test it on one GPU.
class Nccl final : public OverHost {
 public:
  Nccl(Communicator& host, int gpu) : OverHost(host), gpu_(gpu) {
    if (const std::string shared = shared_gpu(host, gpu); !shared.empty()) fail(shared, ": NCCL needs one GPU per rank");
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
    if (std::uncaught_exceptions() > 0) {  // other ranks may not respond
      (void)ncclCommAbort(nccl_);
    } else {
      (void)cudaStreamSynchronize(stream_);
      (void)ncclCommDestroy(nccl_);
    }
    (void)cudaEventDestroy(event_);
    (void)cudaStreamDestroy(stream_);
  }

  /// "rank 1 on a has the GPU of rank 0" if two ranks share a GPU, which NCCL forbids; otherwise "".
  static std::string shared_gpu(Communicator& host, int gpu) {
    cudaDeviceProp properties;
    require(cudaGetDeviceProperties(&properties, gpu) == cudaSuccess, "there is no GPU ", gpu);
    const std::vector<std::string> all = host.gather({properties.uuid.bytes, sizeof properties.uuid.bytes});
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (all[i] == all[j])
          return "rank " + std::to_string(i) + " on " + host.host(static_cast<Index>(i)) + " has the GPU of rank " +
                 std::to_string(j);
    return {};
  }

  std::string name() const override { return "NCCL"; }
  bool alone() const override { return false; }
  std::vector<std::string> gather(const std::string& mine) override { return host_.gather(mine); }
  void check_ranks() override { host_.check_ranks(); }

  void wait(void* stream = nullptr) override {
    if (stream == nullptr) return host_.wait();
    ncclResult_t status = ncclSuccess;
    check(ncclCommGetAsyncError(nccl_, &status), "waiting for sums");
    check(status, "summing");
    const auto waiting = static_cast<cudaStream_t>(stream);
    waits_.begin(waiting);
    check(cudaEventRecord(event_, stream_), "waiting for sums");
    waits_.end(waiting, event_);
  }

 private:
  void begin(const Work& work, void* stream) override {
    if (stream == nullptr) return work.start(host_);
    after(stream);
    void* const data = work.numbers.data;
    const auto size = static_cast<std::size_t>(work.numbers.count);
    const ncclDataType_t type = work.numbers.is_double ? ncclDouble : ncclFloat;
    const int root = static_cast<int>(work.rank);
    if (work.what == Work::kBroadcast)
      check(ncclBroadcast(data, data, size, type, root, nccl_, stream_), "handing on");
    else if (work.what == Work::kSumAt)
      check(ncclReduce(data, data, size, type, ncclSum, root, nccl_, stream_), "summing");
    else
      check(ncclAllReduce(data, data, size, type, ncclSum, nccl_, stream_), "summing");
  }
  /// NCCL's stream waits for the work enqueued on `stream` so far.
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

  int gpu_;
  ncclComm_t nccl_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

}  // namespace attn
