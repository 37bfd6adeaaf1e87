#pragma once
#include <algorithm>
#include <barrier>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "attn/parallel/communicator.hpp"

// Ranks that are threads of one process: what data parallel training does, without MPI.

namespace thread_ranks {

using namespace attn;

class Meeting {
 public:
  explicit Meeting(Index ranks)
      : ranks(ranks), numbers(static_cast<std::size_t>(ranks)), said(numbers.size()), together(ranks) {}

  const Index ranks;
  std::vector<void*> numbers;  // of each rank
  std::vector<std::string> said;
  std::barrier<> together;
};

/// One of them. What is begun is done at once.
class ThreadRank final : public Communicator {
 public:
  ThreadRank(Meeting& meeting, Index rank) : meeting_(meeting), rank_(rank) {}
  Index rank() const override { return rank_; }
  Index ranks() const override { return meeting_.ranks; }
  bool alone() const override { return ranks() == 1 && !sums_alone; }
  std::string host(Index rank) const override { return "thread " + std::to_string(rank); }

  void begin_sum(SharedNumbers mine, void* = nullptr) override { sum(mine, -1); }
  void begin_sum_at(Index at, SharedNumbers mine, void* = nullptr) override { sum(mine, at); }
  void begin_broadcast(Index from, SharedNumbers mine, void* = nullptr) override {
    each(mine, [&](auto* to) {
      const auto* numbers = static_cast<decltype(to)>(meeting_.numbers[static_cast<std::size_t>(from)]);
      return std::vector(numbers, numbers + mine.count);
    });
  }
  std::vector<std::string> gather(const std::string& mine) override {
    meeting_.said[static_cast<std::size_t>(rank_)] = mine;
    meeting_.together.arrive_and_wait();
    const std::vector<std::string> all = meeting_.said;
    meeting_.together.arrive_and_wait();
    return all;
  }

  std::vector<Index> sums;  // how long each was that it was asked for
  bool sums_alone = false;  // where there is one rank, too

 private:
  void sum(SharedNumbers mine, Index at) {
    sums.push_back(mine.count);
    each(mine, [&](auto* to) {
      using Number = std::remove_pointer_t<decltype(to)>;
      std::vector<Number> total(static_cast<std::size_t>(mine.count));
      for (const void* one : meeting_.numbers)
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += static_cast<const Number*>(one)[i];
      if (at >= 0 && at != rank_) std::ranges::fill(total, Number{-1e30f});  // lost
      return total;
    });
  }
  /// compute(my numbers) sees the numbers of all; then its result replaces mine.
  template <class Compute>
  void each(SharedNumbers mine, const Compute& compute) {
    meeting_.numbers[static_cast<std::size_t>(rank_)] = mine.data;
    meeting_.together.arrive_and_wait();
    const auto replace = [&](auto* numbers) {
      const auto result = compute(numbers);
      meeting_.together.arrive_and_wait();
      std::ranges::copy(result, numbers);
      meeting_.together.arrive_and_wait();
    };
    if (mine.is_double)
      replace(static_cast<double*>(mine.data));
    else
      replace(static_cast<float*>(mine.data));
  }

  Meeting& meeting_;
  Index rank_;
};

/// work(rank) on a thread for each of so many ranks. A rank that throws leaves the others, which do not wait for it; the exception
/// of the lowest such rank arrives here.
template <class Work>
void on_ranks(Index count, const Work& work) {
  Meeting meeting(count);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (Index rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        ThreadRank mine(meeting, rank);
        try {
          work(mine);
        } catch (...) {
          failures[static_cast<std::size_t>(rank)] = std::current_exception();
          meeting.together.arrive_and_drop();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace thread_ranks
