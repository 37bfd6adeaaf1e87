#pragma once
#include <cuda_runtime.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "attn/parallel/over_host.cuh"

namespace attn {

/// Numbers of a GPU by a communicator that takes the host's, such as Mpi: what several ranks on one GPU have, and a program without NCCL.
/// They are copied to the host on a stream of their own, while the GPU goes on; those that have arrived are added up; in the end
/// all go back.
class ThroughHost final : public OverHost {
 public:
  /// On the GPU that the calling thread has chosen.
  explicit ThroughHost(Communicator& host) : OverHost(host) {
    check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "making a stream");
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
  // call_roll() does nothing: the host notices a rank that hangs when it waits for it.

  // Numbers that no stream made are the host's.
  void begin_sum(SharedNumbers numbers, void* stream = nullptr) override {
    if (stream == nullptr) return in_turn().begin_sum(numbers);
    begin({Work::kSum, 0, numbers}, stream);
  }
  void begin_sum_at(Index rank, SharedNumbers numbers, void* stream = nullptr) override {
    if (stream == nullptr) return in_turn().begin_sum_at(rank, numbers);
    begin({Work::kSumAt, rank, numbers}, stream);
  }
  void begin_broadcast(Index rank, SharedNumbers numbers, void* stream = nullptr) override {
    if (stream == nullptr) return in_turn().begin_broadcast(rank, numbers);
    begin({Work::kBroadcast, rank, numbers}, stream);
  }
  void wait(void* stream = nullptr) override {
    if (stream == nullptr) return in_turn().wait();
    const auto waiting = static_cast<cudaStream_t>(stream);
    waits_.begin(waiting);
    in_turn().wait();
    copies_wait_for(waiting);
    for (std::size_t i = 0; i < begun_.size(); ++i)
      if (begun_[i].comes_back(rank())) {
        const SharedNumbers& numbers = begun_[i].numbers;
        check(cudaMemcpyAsync(numbers.data, slots_[i].numbers, bytes(numbers), cudaMemcpyHostToDevice, copies_),
              "bringing sums back");
      }
    begun_.clear();
    arrived_ = 0;
    check(cudaEventRecord(back_, copies_), "bringing sums back");
    waits_.end(waiting, back_);
  }

 private:
  struct Work {
    enum { kSum, kSumAt, kBroadcast } what;
    Index rank;
    SharedNumbers numbers;

    bool goes_out(Index mine) const { return what != kBroadcast || rank == mine; }
    bool comes_back(Index mine) const { return what == kSum || (what == kSumAt) == (rank == mine); }
  };
  /// Where the numbers of the n-th work since the last wait lie on the host.
  struct Slot {
    char* numbers = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t arrived = nullptr;
  };

  static std::size_t bytes(const SharedNumbers& numbers) {
    return static_cast<std::size_t>(numbers.count) * (numbers.is_double ? sizeof(double) : sizeof(float));
  }
  static void new_event(cudaEvent_t& event) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  }

  void copies_wait_for(cudaStream_t stream) {
    check(cudaEventRecord(made_, stream), "waiting for gradients");
    check(cudaStreamWaitEvent(copies_, made_, 0), "waiting for gradients");
  }
  void begin(const Work& work, void* stream) {
    if (begun_.size() == slots_.size()) new_event(slots_.emplace_back().arrived);
    Slot& slot = slots_[begun_.size()];
    if (bytes(work.numbers) > slot.bytes) {
      check(cudaStreamSynchronize(copies_), "more memory for gradients");  // it may be on its way back
      (void)cudaFreeHost(slot.numbers);
      slot.numbers = nullptr, slot.bytes = 0;
      check(cudaMallocHost(reinterpret_cast<void**>(&slot.numbers), bytes(work.numbers)),
            "memory of the host for gradients");
      slot.bytes = bytes(work.numbers);
    }
    if (work.goes_out(rank())) {
      copies_wait_for(static_cast<cudaStream_t>(stream));
      check(cudaMemcpyAsync(slot.numbers, work.numbers.data, bytes(work.numbers), cudaMemcpyDeviceToHost, copies_),
            "bringing gradients to the host");
    }
    check(cudaEventRecord(slot.arrived, copies_), "bringing gradients to the host");
    begun_.push_back(work);
    while (arrived_ < begun_.size() && has_been(slots_[arrived_].arrived)) start_next();
  }

  /// The host's communicator with all that was begun: ranks make the same calls in the same order, whenever their numbers arrive.
  Communicator& in_turn() {
    while (arrived_ < begun_.size()) {
      check(cudaEventSynchronize(slots_[arrived_].arrived), "bringing gradients to the host");
      start_next();
    }
    return host_;
  }
  void start_next() {
    const Work& work = begun_[arrived_];
    char* const at = slots_[arrived_].numbers;
    ++arrived_;
    const Index count = work.numbers.count;
    const SharedNumbers numbers = work.numbers.is_double ? SharedNumbers(reinterpret_cast<double*>(at), count)
                                                         : SharedNumbers(reinterpret_cast<float*>(at), count);
    if (work.what == Work::kSum) return host_.begin_sum(numbers);
    if (work.what == Work::kSumAt) return host_.begin_sum_at(work.rank, numbers);
    host_.begin_broadcast(work.rank, numbers);
  }

  cudaStream_t copies_ = nullptr;
  cudaEvent_t made_ = nullptr, back_ = nullptr;
  std::deque<Slot> slots_;
  std::vector<Work> begun_;  // since the last wait
  std::size_t arrived_ = 0;  // of which the host's communicator has so many
};

/// For the ranks that train on a GPU, where theirs takes the host's numbers only: see DataParallel.
template <class Device>
std::unique_ptr<Communicator> through_host(Communicator& host, const Device& device) {
  device.use();
  return std::make_unique<ThroughHost>(host);
}

}  // namespace attn
