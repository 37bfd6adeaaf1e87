#pragma once
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "attn/cuda/support/error.cuh"
#include "workload.hpp"

/// Measures work on a stream with CUDA events.
class StreamClock {
 public:
  explicit StreamClock(cudaStream_t stream) : stream_(stream) {
    for (cudaEvent_t& event : events_) attn::check_cuda(cudaEventCreate(&event), "making an event");
  }
  StreamClock(const StreamClock&) = delete;
  StreamClock& operator=(const StreamClock&) = delete;
  ~StreamClock() {
    for (cudaEvent_t& event : events_) (void)cudaEventDestroy(event);
  }

  template <class Work>
  double seconds(const Work& work) {
    attn::check_cuda(cudaEventRecord(events_[0], stream_), "starting the clock");
    work();
    attn::check_cuda(cudaEventRecord(events_[1], stream_), "stopping the clock");
    attn::check_cuda(cudaEventSynchronize(events_[1]), "waiting for the clock");
    float milliseconds = 0;
    attn::check_cuda(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]), "reading the clock");
    return milliseconds * 1e-3;
  }
  /// The median time of each work, after three warm-up runs. The works take turns, because a GPU's frequency follows its
  /// load: this way all run at the same frequency.
  std::vector<double> medians_in_turn(int rounds, const std::vector<std::function<void()>>& works) {
    std::vector<std::vector<double>> measured(works.size());
    for (int round = -3; round < rounds; ++round)
      for (std::size_t i = 0; i < works.size(); ++i) {
        const double spent = seconds(works[i]);
        if (round >= 0) measured[i].push_back(spent);
      }
    std::vector<double> medians;
    for (const auto& each : measured) medians.push_back(median(each));
    return medians;
  }
  double median_seconds(int repeats, const std::function<void()>& work) { return medians_in_turn(repeats, {work})[0]; }

 private:
  cudaStream_t stream_;
  cudaEvent_t events_[2] = {};
};

/// The work on a device's stream, captured as a CUDA graph. It can be counted, and replayed without host cost. Run the work
/// once before, so that it neither allocates nor tunes. Afterwards only replay on the device: an upload's events may belong
/// to the capture.
class Graph {
 public:
  template <class Device, class Work>
  Graph(Device& device, const Work& work) : stream_(device.stream()) {
    attn::check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "beginning a capture");
    try {
      work();
    } catch (...) {
      (void)cudaStreamEndCapture(stream_, &graph_);
      (void)cudaGetLastError();
      release();
      throw;
    }
    attn::check_cuda(cudaStreamEndCapture(stream_, &graph_), "ending a capture");
    attn::check_cuda(cudaGraphInstantiate(&ready_, graph_, 0), "making a graph ready");
  }
  Graph(Graph&& other) noexcept
      : stream_(other.stream_),
        graph_(std::exchange(other.graph_, nullptr)),
        ready_(std::exchange(other.ready_, nullptr)) {}
  Graph& operator=(Graph&&) = delete;
  ~Graph() { release(); }

  void replay() const { attn::check_cuda(cudaGraphLaunch(ready_, stream_), "replaying a graph"); }

  /// The number of nodes of a type: kernels, copies or memsets.
  int count(cudaGraphNodeType type) const {
    std::size_t size = 0;
    attn::check_cuda(cudaGraphGetNodes(graph_, nullptr, &size), "counting a graph's nodes");
    std::vector<cudaGraphNode_t> nodes(size);
    attn::check_cuda(cudaGraphGetNodes(graph_, nodes.data(), &size), "reading a graph's nodes");
    return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](cudaGraphNode_t node) {
      cudaGraphNodeType found;
      attn::check_cuda(cudaGraphNodeGetType(node, &found), "reading a graph's node");
      return found == type;
    }));
  }

 private:
  void release() {
    if (ready_ != nullptr) (void)cudaGraphExecDestroy(ready_);
    if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
  }

  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

/// Peak GPU memory since construction, sampled by look(). Uses the driver's free memory, so it includes kernel code and
/// library buffers. No other program may use the GPU.
class MemoryWatch {
 public:
  MemoryWatch() : free_at_first_(free()) {}

  void look() { most_ = std::max(most_, free_at_first_ - std::min(free_at_first_, free())); }
  double gib() const { return static_cast<double>(most_) / 0x1p30; }

 private:
  static std::size_t free() {
    std::size_t left = 0, total = 0;
    attn::check_cuda(cudaMemGetInfo(&left, &total), "asking for free memory");
    return left;
  }

  std::size_t free_at_first_, most_ = 0;
};
