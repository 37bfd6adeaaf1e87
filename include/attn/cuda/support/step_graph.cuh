#pragma once
#include "attn/core/step_graph.hpp"
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
    check_cuda(cudaGraphLaunch(graph_, device_.stream()), "launching a step of decoding");
  }

 private:
  template <class Step>
  void record(const Step& step) {
    check_cuda(cudaStreamBeginCapture(device_.stream(), cudaStreamCaptureModeThreadLocal), "recording a step of decoding");
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
    check_cuda(cudaStreamEndCapture(device_.stream(), &recorded), "recording a step of decoding");
    const cudaError_t status = cudaGraphInstantiate(&graph_, recorded, 0);
    (void)cudaGraphDestroy(recorded);
    check_cuda(status, "preparing a recorded step of decoding");
  }

  Cuda<T>& device_;
  bool warm_ = false;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace attn
