#pragma once
#include "attn/cuda/device.cuh"

namespace attn {

/// The first run executes the step, allocates all memory and chooses all plans. The second captures a CUDA graph, which
/// this run and all later ones launch.
template <class T>
struct StepGraph<Cuda<T>> {
  static constexpr bool records = true;
  explicit StepGraph(Cuda<T>& device) : device_(device) {}
  StepGraph(const StepGraph&) = delete;
  ~StepGraph() {
    if (graph_ != nullptr) (void)cudaGraphExecDestroy(graph_);
  }

  template <class Step>
  void run(const Step& step) {
    if (!warm_) {
      step();
      warm_ = true;
      return;
    }
    if (graph_ == nullptr) record(step);
    check_cuda(cudaGraphLaunch(graph_, device_.stream()), "launching a decoding step");
  }

 private:
  template <class Step>
  void record(const Step& step) {
    check_cuda(cudaStreamBeginCapture(device_.stream(), cudaStreamCaptureModeThreadLocal), "recording a decoding step");
    try {
      const RepeatedStep<Cuda<T>> repeated(device_, true);
      step();
    } catch (...) {
      cudaGraph_t broken = nullptr;
      (void)cudaStreamEndCapture(device_.stream(), &broken);
      if (broken != nullptr) (void)cudaGraphDestroy(broken);
      throw;
    }
    cudaGraph_t recorded = nullptr;
    check_cuda(cudaStreamEndCapture(device_.stream(), &recorded), "recording a decoding step");
    const cudaError_t status = cudaGraphInstantiate(&graph_, recorded, 0);
    (void)cudaGraphDestroy(recorded);
    check_cuda(status, "preparing a recorded decoding step");
  }

  Cuda<T>& device_;
  bool warm_ = false;
  cudaGraphExec_t graph_ = nullptr;
};

/// The counts are in pinned host memory, which kernels write to. A negative count has not been written yet. A device has
/// one WatchedCounts at a time.
template <class T>
class WatchedCounts<Cuda<T>> {
 public:
  WatchedCounts(Cuda<T>& device, Index steps) : device_(device), counts_(device.pinned(steps)) {
    std::fill_n(counts_, steps, -1);
  }

  std::int32_t* data() { return counts_; }
  std::int32_t of(Index i) const {
    const volatile std::int32_t& count = counts_[i];
    while (count < 0) {
      const cudaError_t status = cudaStreamQuery(device_.stream());
      if (status == cudaErrorNotReady) continue;
      check_cuda(status, "waiting for a decoding step");
      require(count >= 0, "decoding step ", i, " did not report its number of active sentences");
    }
    return count;
  }

 private:
  Cuda<T>& device_;
  std::int32_t* counts_;
};

}  // namespace attn
