#pragma once
#include "attn/cuda/support/error.cuh"

namespace attn {

/// Makes a GPU current for this thread until the thread selects another.
inline cudaError_t use_gpu(int gpu) {
  int now = -1;
  const cudaError_t status = cudaGetDevice(&now);  // cached by the runtime: negligible beside a launch
  return status == cudaSuccess && now == gpu ? status : cudaSetDevice(gpu);
}

/// Allocates memory of a GPU.
struct CudaMemory {
  int gpu = 0;

  void* allocate(std::size_t bytes, const char* what) const {
    check_cuda(use_gpu(gpu), what);
    void* block = nullptr;
    const cudaError_t status = cudaMalloc(&block, bytes);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();  // clears the error for the calls that follow
      std::size_t free = 0, total = 0;
      (void)cudaMemGetInfo(&free, &total);
      fail<OutOfMemory>("out of GPU memory: ", what, " need ", bytes >> 20, " MiB more, and ", free >> 20, " of ",
                        total >> 20, " MiB are free; lower the batch size or the model's width");
    }
    check_cuda(status, what);
    return block;
  }
  void release(void* block) const noexcept {
    (void)use_gpu(gpu);
    (void)cudaFree(block);
  }
};

/// Pinned host memory that kernels write to.
struct PinnedMemory {
  void* allocate(std::size_t bytes, const char* what) const {
    void* block = nullptr;
    check_cuda(cudaHostAlloc(&block, bytes, cudaHostAllocMapped | cudaHostAllocPortable), what);
    return block;
  }
  void release(void* block) const noexcept { (void)cudaFreeHost(block); }
};

/// Asynchronous uploads. Small ones go through pinned memory, filled in two alternating halves, so that the host waits only
/// if it is a whole half ahead of the GPU.
class Staging {
 public:
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    if (pinned_ == nullptr) return;
    for (cudaEvent_t& event : sent_) (void)cudaEventSynchronize(event), (void)cudaEventDestroy(event);
    (void)cudaFreeHost(pinned_);
  }

  void upload(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (bytes > kHalf) {  // parameters, uploaded once: may wait
      check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "upload");
      check_cuda(cudaStreamSynchronize(stream), "upload");
      return;
    }
    if (pinned_ == nullptr) start(stream);
    if (used_ + bytes > kHalf) {
      check_cuda(cudaEventRecord(sent_[half_], stream), "upload");
      half_ = 1 - half_;
      used_ = 0;
      check_cuda(cudaEventSynchronize(sent_[half_]), "upload");
    }
    std::byte* place = pinned_ + static_cast<std::size_t>(half_) * kHalf + used_;
    used_ += (bytes + 63) / 64 * 64;
    std::memcpy(place, from, bytes);
    check_cuda(cudaMemcpyAsync(to, place, bytes, cudaMemcpyHostToDevice, stream), "upload");
  }

 private:
  static constexpr std::size_t kHalf = std::size_t{4} << 20;

  void start(cudaStream_t stream) {
    check_cuda(cudaMallocHost(reinterpret_cast<void**>(&pinned_), 2 * kHalf), "pinned memory for uploads");
    for (cudaEvent_t& event : sent_) {
      check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event for uploads");
      check_cuda(cudaEventRecord(event, stream), "an event for uploads");
    }
  }

  std::byte* pinned_ = nullptr;
  cudaEvent_t sent_[2] = {};
  int half_ = 0;
  std::size_t used_ = 0;
};

}  // namespace attn
