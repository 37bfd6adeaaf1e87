#pragma once
#include <cstdio>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Numbers for a collective operation: float or double, in host or GPU memory.
struct SharedNumbers {
  void* data;
  Index count;
  bool is_double;

  SharedNumbers(float* numbers, Index size) : data(numbers), count(size), is_double(false) {}
  SharedNumbers(double* numbers, Index size) : data(numbers), count(size), is_double(true) {}

  std::size_t number_size() const { return is_double ? sizeof(double) : sizeof(float); }
  std::size_t bytes() const { return static_cast<std::size_t>(count) * number_size(); }
};

/// Communication between the ranks (processes) of a training. All ranks make the same calls in the same order. This base
/// class is a single process; see parallel/mpi.hpp and parallel/nccl.hpp for others.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual std::string name() const { return "alone"; }
  virtual bool alone() const { return ranks() == 1; }  // nothing has to be summed
  virtual Index rank() const { return 0; }
  virtual Index ranks() const { return 1; }
  virtual Index rank_on_host() const { return 0; }  // rank among the processes of this machine; selects the GPU
  virtual Index ranks_on_host() const { return 1; }
  virtual std::string host(Index /*rank*/) const { return "this machine"; }

  /// Whether it accepts GPU memory. `stream` is then the stream that computes the numbers; work enqueued on it after
  /// wait(stream) sees the results.
  virtual bool takes_gpu_memory() const { return false; }

  /// Starts an in-place all-reduce (sum): equal bits on all ranks, reproducible for the same number of ranks.
  virtual void begin_sum(SharedNumbers, void* /*stream*/ = nullptr) {}
  /// Starts a reduce (sum) to one rank; the numbers of the other ranks become undefined.
  virtual void begin_sum_at(Index /*rank*/, SharedNumbers, void* /*stream*/ = nullptr) {}
  /// Starts a broadcast from one rank.
  virtual void begin_broadcast(Index /*rank*/, SharedNumbers, void* /*stream*/ = nullptr) {}
  /// Waits for all operations that were started.
  virtual void wait(void* /*stream*/ = nullptr) {}
  /// Total seconds that streams have spent in completed waits.
  virtual double seconds_waited() { return 0; }

  /// Detects a hanging rank, if that is cheap; called at every step when all its sums have begun.
  virtual void check_ranks() {}
  /// Mark the start of each batch of a step, and the end of the step. In between, a rank that makes no progress hangs;
  /// elsewhere it may pause, for example to validate.
  virtual void begin_batch() {}
  virtual void end_step() {}
  /// All-gather: the strings of all ranks, in rank order.
  virtual std::vector<std::string> gather(const std::string& mine) { return {mine}; }

  /// Prints the reason and ends all ranks; they would wait for the failed one. Alone, only returns `status`.
  virtual int stop_all(int status, const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return status;
  }

  /// Synchronous all-reduce of host numbers.
  void sum(double* numbers, Index count) {
    begin_sum({numbers, count});
    wait();
  }
  /// Whether the flag is set on any rank.
  bool any(bool mine) {
    double ranks_of_which = mine ? 1 : 0;
    sum(&ranks_of_which, 1);
    return ranks_of_which > 0;
  }
  /// Broadcasts the string of rank 0.
  std::string from_first(const std::string& mine) { return gather(leads() ? mine : "")[0]; }
  /// Barrier.
  void barrier() { any(false); }
  bool leads() const { return rank() == 0; }  // rank 0 writes files and prints progress
};

/// Settings that must be equal on all ranks, by name: version, seed, text, model.
using CommonSettings = std::vector<std::pair<std::string, std::string>>;

/// The first line in which two texts differ, from each text.
inline std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  std::string one, other;
  do {
    one.clear(), other.clear();
    std::getline(of_a, one), std::getline(of_b, other);
  } while (one == other && (of_a || of_b));
  return {one, other};
}

/// Throws Error on every rank unless all have equal settings. The error names the first rank that differs from rank 0, its
/// machine and its value; for multi-line values, the first line that differs.
inline void require_same_everywhere(Communicator& ranks, const CommonSettings& settings) {
  for (const auto& [name, mine] : settings) {
    const std::vector<std::string> all = ranks.gather(mine);
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i] == all[0]) continue;
      const auto [its, first] = first_difference(all[i], all[0]);
      fail("rank ", i, " on ", ranks.host(static_cast<Index>(i)), " has ", name, " ", its, ", rank 0 on ", ranks.host(0),
           " has ", first, ". Start all ranks with the same program, files and options.");
    }
  }
}

}  // namespace attn
