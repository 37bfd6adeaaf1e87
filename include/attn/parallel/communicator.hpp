#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// Numbers that ranks add up or hand on: float or double, in memory of the host or of a GPU.
struct SharedNumbers {
  void* data;
  Index count;
  bool is_double;

  SharedNumbers(float* numbers, Index size) : data(numbers), count(size), is_double(false) {}
  SharedNumbers(double* numbers, Index size) : data(numbers), count(size), is_double(true) {}
};

/// How the processes of one training, its ranks, talk to each other. All of them make the same calls in the same order. This
/// one is alone: a training on one process. The others: parallel/mpi.hpp, parallel/nccl.hpp.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual std::string name() const { return "alone"; }
  virtual bool alone() const { return ranks() == 1; }  // nothing has to be summed
  virtual Index rank() const { return 0; }
  virtual Index ranks() const { return 1; }
  virtual Index rank_on_host() const { return 0; }  // among those of its machine: which GPU it takes
  virtual Index ranks_on_host() const { return 1; }
  virtual std::string host(Index /*rank*/) const { return "this machine"; }

  /// Whether it takes numbers in a GPU's memory. `stream` is then the stream that made them; work that is put on the stream
  /// after wait(stream) sees the results.
  virtual bool takes_gpu_memory() const { return false; }

  /// Begins to add up numbers over all ranks, in place; with the same ranks it gives the same bits, the same ones everywhere.
  virtual void begin_sum(SharedNumbers, void* /*stream*/ = nullptr) {}
  /// The same, when one rank alone needs the sum; those of the others are lost.
  virtual void begin_sum_at(Index /*rank*/, SharedNumbers, void* /*stream*/ = nullptr) {}
  /// Begins to give all ranks the numbers of one.
  virtual void begin_broadcast(Index /*rank*/, SharedNumbers, void* /*stream*/ = nullptr) {}
  /// Waits for all that was begun.
  virtual void wait(void* /*stream*/ = nullptr) {}
  /// How long streams have waited for what was begun, in all: of those waits that have ended.
  virtual double seconds_waited() { return 0; }

  /// Notices a rank that hangs, where that costs little: called at every step.
  virtual void call_roll() {}
  /// What each rank says, in the order of ranks, at all of them.
  virtual std::vector<std::string> gather(const std::string& mine) { return {mine}; }

  /// Says why, and ends all ranks, which would wait in vain for one that has failed. Alone it returns the program's status.
  virtual int stop_all(int status, const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return status;
  }

  /// Adds up numbers of the host, now.
  void sum(double* numbers, Index count) {
    begin_sum({numbers, count});
    wait();
  }
  /// Whether it is so at any rank.
  bool any(bool mine) {
    double ranks_of_which = mine ? 1 : 0;
    sum(&ranks_of_which, 1);
    return ranks_of_which > 0;
  }
  /// What the first rank says, at all of them.
  std::string from_first(const std::string& mine) { return gather(leads() ? mine : "")[0]; }
  /// Waits until all ranks are here.
  void meet() { any(false); }
  bool leads() const { return rank() == 0; }  // writes files, and says how it goes
};

}  // namespace attn
