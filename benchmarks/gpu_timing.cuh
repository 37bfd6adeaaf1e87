#pragma once
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "attn/cuda/support/error.cuh"
#include "workload.hpp"

/// Seconds that a stream takes for some work, by its own clock.
class StreamClock {
 public:
  explicit StreamClock(cudaStream_t stream) : stream_(stream) {
    for (cudaEvent_t& event : events_) attn::check(cudaEventCreate(&event), "making an event");
  }
  StreamClock(const StreamClock&) = delete;
  StreamClock& operator=(const StreamClock&) = delete;
  ~StreamClock() {
    for (cudaEvent_t& event : events_) (void)cudaEventDestroy(event);
  }

  template <class Work>
  double seconds(const Work& work) {
    attn::check(cudaEventRecord(events_[0], stream_), "starting the clock");
    work();
    attn::check(cudaEventRecord(events_[1], stream_), "stopping the clock");
    attn::check(cudaEventSynchronize(events_[1]), "waiting for the clock");
    float milliseconds = 0;
    attn::check(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]), "reading the clock");
    return milliseconds * 1e-3;
  }
  /// The median of each of some works, after three runs that are not counted. They run in turn: a GPU's frequency follows its
  /// load, and so it is the same for all.
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

/// What some work puts on a device's stream, captured: it can be counted, and replayed at no cost to the host. The work must
/// have run before, so that nothing is allocated or tuned. Afterwards the device should only replay: an upload's events may
/// now belong to the capture.
class Graph {
 public:
  template <class Device, class Work>
  Graph(Device& device, const Work& work) : stream_(device.stream()) {
    attn::check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "beginning a capture");
    try {
      work();
    } catch (...) {
      (void)cudaStreamEndCapture(stream_, &graph_);
      (void)cudaGetLastError();
      release();
      throw;
    }
    attn::check(cudaStreamEndCapture(stream_, &graph_), "ending a capture");
    attn::check(cudaGraphInstantiate(&ready_, graph_, 0), "making a graph ready");
  }
  Graph(Graph&& other) noexcept
      : stream_(other.stream_),
        graph_(std::exchange(other.graph_, nullptr)),
        ready_(std::exchange(other.ready_, nullptr)) {}
  Graph& operator=(Graph&&) = delete;
  ~Graph() { release(); }

  void replay() const { attn::check(cudaGraphLaunch(ready_, stream_), "replaying a graph"); }

  /// How many of its nodes are kernels; or copies, or memory being set.
  int count(cudaGraphNodeType type) const {
    std::size_t size = 0;
    attn::check(cudaGraphGetNodes(graph_, nullptr, &size), "counting a graph's nodes");
    std::vector<cudaGraphNode_t> nodes(size);
    attn::check(cudaGraphGetNodes(graph_, nodes.data(), &size), "reading a graph's nodes");
    return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](cudaGraphNode_t node) {
      cudaGraphNodeType found;
      attn::check(cudaGraphNodeGetType(node, &found), "reading a graph's node");
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

/// The GPU's memory taken since this was made, at most at the moments it was told to look: what the driver gave away, so
/// the code of kernels and the libraries' own buffers are in it. Nobody else should be using the GPU.
class MemoryWatch {
 public:
  MemoryWatch() : free_at_first_(free()) {}

  void look() { most_ = std::max(most_, free_at_first_ - std::min(free_at_first_, free())); }
  double gib() const { return static_cast<double>(most_) / 0x1p30; }

 private:
  static std::size_t free() {
    std::size_t left = 0, total = 0;
    attn::check(cudaMemGetInfo(&left, &total), "asking for free memory");
    return left;
  }

  std::size_t free_at_first_, most_ = 0;
};
