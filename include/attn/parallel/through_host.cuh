#pragma once
#include <cuda_runtime.h>

#include <deque>

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
  /// Records the start of a wait on the stream.
  void begin(cudaStream_t stream) {
    seconds();  // frees the events of completed waits
    check_cuda(cudaEventRecord(waits_.emplace_back().begin, stream), "waiting for sums");
  }
  /// Makes the stream wait for the event and records the end of the wait.
  void end(cudaStream_t stream, cudaEvent_t event) {
    check_cuda(cudaStreamWaitEvent(stream, event, 0), "waiting for sums");
    check_cuda(cudaEventRecord(waits_.back().end, stream), "waiting for sums");
  }

  /// Total seconds of completed waits. Not between begin and end.
  double seconds() {
    for (; !waits_.empty() && has_been(waits_.front().end); waits_.pop_front()) {
      float milliseconds = 0;
      check_cuda(cudaEventElapsedTime(&milliseconds, waits_.front().begin, waits_.front().end), "timing sums");
      seconds_ += 1e-3 * static_cast<double>(milliseconds);
    }
    return seconds_;
  }

 private:
  struct Wait {
    cudaEvent_t begin = nullptr, end = nullptr;

    Wait() {
      for (cudaEvent_t* event : {&begin, &end}) check_cuda(cudaEventCreate(event), "making an event");
    }
    Wait(const Wait&) = delete;
    ~Wait() { (void)cudaEventDestroy(begin), (void)cudaEventDestroy(end); }
  };

  std::deque<Wait> waits_;  // those that may still be running
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

  void begin_sum(SharedNumbers numbers, void* stream = nullptr) final { begin({Work::kSum, 0, numbers}, stream); }
  void begin_sum_at(Index rank, SharedNumbers numbers, void* stream = nullptr) final {
    begin({Work::kSumAt, rank, numbers}, stream);
  }
  void begin_broadcast(Index rank, SharedNumbers numbers, void* stream = nullptr) final {
    begin({Work::kBroadcast, rank, numbers}, stream);
  }

 protected:
  struct Work {
    enum { kSum, kSumAt, kBroadcast } what;
    Index rank;
    SharedNumbers numbers;

    bool goes_out(Index mine) const { return what != kBroadcast || rank == mine; }
    bool comes_back(Index mine) const { return what == kSum || (what == kSumAt) == (rank == mine); }
    void start(Communicator& host) const {
      if (what == kSum) return host.begin_sum(numbers);
      if (what == kSumAt) return host.begin_sum_at(rank, numbers);
      host.begin_broadcast(rank, numbers);
    }
  };
  /// Numbers without a stream are in host memory.
  virtual void begin(const Work& work, void* stream) = 0;

  Communicator& host_;
  StreamWaits waits_;
};

/// GPU collectives through a host communicator such as Mpi, for programs without NCCL and for several ranks on one GPU.
/// Numbers are copied to the host on a separate stream while the GPU continues, reduced as they arrive, and copied back.
class ThroughHost final : public OverHost {
 public:
  /// Uses the calling thread's current GPU.
  explicit ThroughHost(Communicator& host) : OverHost(host) {
    check_cuda(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "making a stream");
    for (cudaEvent_t* event : {&made_, &back_}) new_event(*event);
  }
  ThroughHost(const ThroughHost&) = delete;
  ~ThroughHost() override {
    (void)cudaStreamSynchronize(copies_);
    for (const Slot& slot : slots_) (void)cudaFreeHost(slot.numbers), (void)cudaEventDestroy(slot.arrived);
    for (const cudaEvent_t event : {made_, back_}) (void)cudaEventDestroy(event);
    (void)cudaStreamDestroy(copies_);
  }

  std::string name() const override { return host_.name(); }
  bool alone() const override { return host_.alone(); }
  std::vector<std::string> gather(const std::string& mine) override { return in_turn().gather(mine); }
  // check_ranks() does nothing: the host notices a rank that hangs when it waits for it.

  void wait(void* stream = nullptr) override {
    if (stream == nullptr) return in_turn().wait();
    const auto waiting = static_cast<cudaStream_t>(stream);
    waits_.begin(waiting);
    in_turn().wait();
    copies_wait_for(waiting);
    for (std::size_t i = 0; i < begun_.size(); ++i)
      if (begun_[i].comes_back(rank())) {
        const SharedNumbers& numbers = begun_[i].numbers;
        check_cuda(cudaMemcpyAsync(numbers.data, slots_[i].numbers, numbers.bytes(), cudaMemcpyHostToDevice, copies_),
                   "bringing sums back");
      }
    begun_.clear();
    arrived_ = 0;
    check_cuda(cudaEventRecord(back_, copies_), "bringing sums back");
    waits_.end(waiting, back_);
  }

 private:
  /// Host buffer of the n-th operation since the last wait.
  struct Slot {
    char* numbers = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t arrived = nullptr;
  };

  static void new_event(cudaEvent_t& event) {
    check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  }

  void copies_wait_for(cudaStream_t stream) {
    check_cuda(cudaEventRecord(made_, stream), "waiting for gradients");
    check_cuda(cudaStreamWaitEvent(copies_, made_, 0), "waiting for gradients");
  }
  void begin(const Work& work, void* stream) override {
    if (stream == nullptr) return work.start(in_turn());
    if (begun_.size() == slots_.size()) new_event(slots_.emplace_back().arrived);
    Slot& slot = slots_[begun_.size()];
    if (work.numbers.bytes() > slot.bytes) {
      check_cuda(cudaStreamSynchronize(copies_),
                 "waiting to enlarge the gradient buffer");  // a copy back may still be running
      (void)cudaFreeHost(slot.numbers);
      slot.numbers = nullptr, slot.bytes = 0;
      check_cuda(cudaMallocHost(reinterpret_cast<void**>(&slot.numbers), work.numbers.bytes()),
                 "pinned memory for gradients");
      slot.bytes = work.numbers.bytes();
    }
    if (work.goes_out(rank())) {
      copies_wait_for(static_cast<cudaStream_t>(stream));
      check_cuda(cudaMemcpyAsync(slot.numbers, work.numbers.data, work.numbers.bytes(), cudaMemcpyDeviceToHost, copies_),
                 "copying gradients to the host");
    }
    check_cuda(cudaEventRecord(slot.arrived, copies_), "copying gradients to the host");
    begun_.push_back(work);
    while (arrived_ < begun_.size() && has_been(slots_[arrived_].arrived)) start_next();
  }

  /// Starts all pending operations on the host communicator. Ranks start them in the same order, whenever their numbers
  /// arrive.
  Communicator& in_turn() {
    while (arrived_ < begun_.size()) {
      check_cuda(cudaEventSynchronize(slots_[arrived_].arrived), "copying gradients to the host");
      start_next();
    }
    return host_;
  }
  void start_next() {
    Work work = begun_[arrived_];
    work.numbers.data = slots_[arrived_++].numbers;
    work.start(host_);
  }

  cudaStream_t copies_ = nullptr;
  cudaEvent_t made_ = nullptr, back_ = nullptr;
  std::deque<Slot> slots_;
  std::vector<Work> begun_;  // since the last wait
  std::size_t arrived_ = 0;  // operations already started on the host communicator
};

/// For DataParallel on GPUs whose communicator accepts host memory only.
template <class Device>
std::unique_ptr<Communicator> through_host(Communicator& host, const Device& device) {
  device.use();
  return std::make_unique<ThroughHost>(host);
}

}  // namespace attn
