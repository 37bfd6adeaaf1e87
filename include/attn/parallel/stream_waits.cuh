#pragma once
#include <cuda_runtime.h>

#include <vector>

#include "attn/cuda/support/error.cuh"

namespace attn {

/// Whether what was recorded with an event is done. CUDA takes the answer no for an error, which the next launch would report.
inline bool has_been(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) (void)cudaGetLastError();
  return status == cudaSuccess;
}

/// How long streams have waited for others, by their GPU's clock; the host waits for neither.
class StreamWaits {
 public:
  StreamWaits() = default;
  StreamWaits(const StreamWaits&) = delete;
  StreamWaits& operator=(const StreamWaits&) = delete;
  ~StreamWaits() {
    for (const std::vector<Wait>& waits : {waits_, spare_})
      for (const Wait& wait : waits) (void)cudaEventDestroy(wait.begin), (void)cudaEventDestroy(wait.end);
  }

  /// The stream has nothing else to do when it comes to this.
  void begin(cudaStream_t stream) {
    now_ = new_wait();
    check(cudaEventRecord(now_.begin, stream), "waiting for sums");
  }
  /// It goes on when it comes to this, and the event has been.
  void end(cudaStream_t stream, cudaEvent_t event) {
    check(cudaStreamWaitEvent(stream, event, 0), "waiting for sums");
    check(cudaEventRecord(now_.end, stream), "waiting for sums");
    waits_.push_back(now_);
  }

  /// In all, of those waits that have ended.
  double seconds() {
    std::size_t ended = 0;
    for (; ended < waits_.size() && has_been(waits_[ended].end); ++ended) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, waits_[ended].begin, waits_[ended].end), "timing sums");
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
    check(cudaEventCreate(&wait.begin), "making an event");
    check(cudaEventCreate(&wait.end), "making an event");
    return wait;
  }

  Wait now_{};
  std::vector<Wait> waits_, spare_;  // that may not have ended; that can be used again
  double seconds_ = 0;
};

}  // namespace attn
