#pragma once
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "attn/cuda/support/error.cuh"
#include "attn/parallel/communicator.hpp"

namespace attn {

/// Whether an event has completed. Clears the error that CUDA sets otherwise and that the next launch would report.
inline bool has_been(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) (void)cudaGetLastError();
  return status == cudaSuccess;
}

/// Measures the time that streams wait for others, on the GPU's clock and without blocking the host.
class StreamWaits {
 public:
  StreamWaits() = default;
  StreamWaits(const StreamWaits&) = delete;
  StreamWaits& operator=(const StreamWaits&) = delete;
  ~StreamWaits() {
    for (const std::vector<Wait>& waits : {waits_, spare_})
      for (const Wait& wait : waits) (void)cudaEventDestroy(wait.begin), (void)cudaEventDestroy(wait.end);
  }

  /// Records the start of a wait on the stream.
  void begin(cudaStream_t stream) {
    now_ = new_wait();
    check_cuda(cudaEventRecord(now_.begin, stream), "waiting for sums");
  }
  /// Makes the stream wait for the event and records the end of the wait.
  void end(cudaStream_t stream, cudaEvent_t event) {
    check_cuda(cudaStreamWaitEvent(stream, event, 0), "waiting for sums");
    check_cuda(cudaEventRecord(now_.end, stream), "waiting for sums");
    waits_.push_back(now_);
  }

  /// Total seconds of completed waits.
  double seconds() {
    std::size_t ended = 0;
    for (; ended < waits_.size() && has_been(waits_[ended].end); ++ended) {
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, waits_[ended].begin, waits_[ended].end), "timing sums");
      seconds_ += 1e-3 * static_cast<double>(milliseconds);
      spare_.push_back(waits_[ended]);
    }
    waits_.erase(waits_.begin(), waits_.begin() + static_cast<std::ptrdiff_t>(ended));
    return seconds_;
  }

 private:
  struct Wait {
    cudaEvent_t begin, end;
  };
  Wait new_wait() {
    if (waits_.size() >= 64) seconds();
    Wait wait{};
    if (!spare_.empty()) {
      wait = spare_.back();
      spare_.pop_back();
      return wait;
    }
    check_cuda(cudaEventCreate(&wait.begin), "making an event");
    check_cuda(cudaEventCreate(&wait.end), "making an event");
    return wait;
  }

  Wait now_{};
  std::vector<Wait> waits_, spare_;  // possibly pending; reusable
  double seconds_ = 0;
};

/// Base of GPU communicators that use a host communicator for ranks and host data.
class OverHost : public Communicator {
 public:
  explicit OverHost(Communicator& host) : host_(host) {}

  Index rank() const final { return host_.rank(); }
  Index ranks() const final { return host_.ranks(); }
  Index rank_on_host() const final { return host_.rank_on_host(); }
  Index ranks_on_host() const final { return host_.ranks_on_host(); }
  std::string host(Index rank) const final { return host_.host(rank); }
  bool takes_gpu_memory() const final { return true; }
  double seconds_waited() final { return waits_.seconds(); }
  void begin_batch() final { host_.begin_batch(); }
  void end_step() final { host_.end_step(); }
  int stop_all(int status, const std::string& why) final { return host_.stop_all(status, why); }

 protected:
  Communicator& host_;
  StreamWaits waits_;
};

}  // namespace attn
