#pragma once
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "attn/parallel/communicator.hpp"

namespace attn {

/// Ranks started by mpirun or srun, over MPI: for CPUs, and for GPUs through host memory. Link attn::mpi. Create one object
/// at the start of the program; only its thread makes MPI calls.
class Mpi final : public Communicator {
 public:
  /// `patience`: seconds to wait for other ranks before all ranks end.
  explicit Mpi(int* count = nullptr, char*** words = nullptr, double patience = 600) : patience_(patience) {
    int level = 0;
    MPI_Init_thread(count, words, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Get_processor_name(name, &length);
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank_on_host_);
    MPI_Comm_size(machine, &ranks_on_host_);
    MPI_Comm_free(&machine);
    hosts_ = gather({name, static_cast<std::size_t>(length)});
  }
  Mpi(const Mpi&) = delete;
  /// After an exception, ends the other ranks too; they would wait in vain.
  ~Mpi() override {
    if (std::uncaught_exceptions() > 0)
      stop_all(1, "ended by an exception");
    else
      MPI_Finalize();
  }

  std::string name() const override { return "MPI"; }
  Index rank() const override { return rank_; }
  Index ranks() const override { return ranks_; }
  Index rank_on_host() const override { return rank_on_host_; }
  Index ranks_on_host() const override { return ranks_on_host_; }
  std::string host(Index rank) const override { return hosts_[static_cast<std::size_t>(rank)]; }

  void begin_sum(SharedNumbers numbers, void* = nullptr) override {
    in_pieces(numbers, [&](void* data, int count) {
      MPI_Iallreduce(MPI_IN_PLACE, data, count, type_of(numbers), MPI_SUM, MPI_COMM_WORLD, new_request());
    });
  }
  void begin_sum_at(Index at, SharedNumbers numbers, void* = nullptr) override {
    in_pieces(numbers, [&](void* data, int count) {
      MPI_Ireduce(at == rank_ ? MPI_IN_PLACE : data, data, count, type_of(numbers), MPI_SUM, static_cast<int>(at),
                  MPI_COMM_WORLD, new_request());
    });
  }
  void begin_broadcast(Index from, SharedNumbers numbers, void* = nullptr) override {
    in_pieces(numbers, [&](void* data, int count) {
      MPI_Ibcast(data, count, type_of(numbers), static_cast<int>(from), MPI_COMM_WORLD, new_request());
    });
  }
  void wait(void* = nullptr) override {
    finish(requests_);
    requests_.clear();
  }

  void check_ranks() override { barrier(); }
  std::vector<std::string> gather(const std::string& mine) override {
    const int size = static_cast<int>(mine.size());
    std::vector<int> sizes(static_cast<std::size_t>(ranks_)), offsets(sizes.size());
    finish([&](MPI_Request* request) {
      MPI_Iallgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD, request);
    });
    for (std::size_t i = 1; i < sizes.size(); ++i) offsets[i] = offsets[i - 1] + sizes[i - 1];
    std::string all(static_cast<std::size_t>(offsets.back() + sizes.back()), '\0');
    finish([&](MPI_Request* request) {
      MPI_Iallgatherv(mine.data(), size, MPI_CHAR, all.data(), sizes.data(), offsets.data(), MPI_CHAR, MPI_COMM_WORLD,
                      request);
    });
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(sizes[i])));
    return texts;
  }

  /// Rank 0 prints first, so that a message common to all ranks appears once.
  int stop_all(int status, const std::string& why) override {
    if (ranks_ == 1) return Communicator::stop_all(status, why);
    if (rank_ != 0) std::this_thread::sleep_for(std::chrono::seconds(2));
    std::fprintf(stderr, "rank %d on %s: %s\n", rank_, host(rank_).c_str(), why.c_str());
    std::fflush(stderr);
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, status);
    return status;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Index kPiece = Index{1} << 24;  // MPI counts are int; also pipelines large sums

  static MPI_Datatype type_of(const SharedNumbers& numbers) { return numbers.is_double ? MPI_DOUBLE : MPI_FLOAT; }
  static void in_pieces(const SharedNumbers& numbers, const auto& begin) {
    const auto size = static_cast<Index>(numbers.number_size());
    for (Index first = 0; first < numbers.count; first += kPiece)
      begin(static_cast<char*>(numbers.data) + first * size, static_cast<int>(std::min(kPiece, numbers.count - first)));
  }
  MPI_Request* new_request() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  void finish(const auto& begin) {
    std::vector<MPI_Request> one(1);
    begin(one.data());
    finish(one);
  }
  /// Waits, and ends all ranks after `patience` seconds.
  void finish(std::vector<MPI_Request>& requests) {
    const auto start = Clock::now();
    for (Index tries = 0;; ++tries) {
      int done = 0;
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) return;
      if (tries < 1000) continue;  // spin first, then yield the core
      std::this_thread::yield();
      if (tries % 1000 != 0) continue;
      if (::getppid() != parent_) std::_Exit(1);  // mpirun has ended: no rank will respond
      const double waited = std::chrono::duration<double>(Clock::now() - start).count();
      if (waited > patience_) give_up();
      if (waited > 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));  // another rank is busy for longer
    }
  }
  /// Reports ranks that do not respond and ends all. The waiting ranks get here at about the same time.
  [[noreturn]] void give_up() {
    constexpr int kTag = 1;
    char sent = 0;
    std::vector<char> received(static_cast<std::size_t>(ranks_));
    std::vector<MPI_Request> sends(received.size(), MPI_REQUEST_NULL), receives(received.size(), MPI_REQUEST_NULL);
    for (int other = 0; other < ranks_; ++other) {
      if (other == rank_) continue;
      const auto i = static_cast<std::size_t>(other);
      MPI_Irecv(&received[i], 1, MPI_CHAR, other, kTag, MPI_COMM_WORLD, &receives[i]);
      MPI_Isend(&sent, 1, MPI_CHAR, other, kTag, MPI_COMM_WORLD, &sends[i]);
    }
    std::vector<bool> here(received.size());
    here[static_cast<std::size_t>(rank_)] = true;
    for (const auto start = Clock::now(); Clock::now() - start < std::chrono::seconds(5);) {
      for (std::size_t i = 0; i < receives.size(); ++i) {
        int done = 0;
        if (!here[i]) MPI_Test(&receives[i], &done, MPI_STATUS_IGNORE);
        here[i] = here[i] || done != 0;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::string silent;
    for (int other = 0; other < ranks_; ++other)
      if (!here[static_cast<std::size_t>(other)])
        silent += (silent.empty() ? "rank " : ", rank ") + std::to_string(other) + " on " + host(other);
    stop_all(1, silent.empty()
                    ? "the ranks called different collective operations. Start all of them with the same command."
                    : silent + " has not answered for " + std::to_string(static_cast<long>(patience_)) +
                          " s. All ranks end; the last checkpoint is complete");
    std::abort();
  }

  double patience_;
  const pid_t parent_ = ::getppid();  // mpirun or its local daemon
  int rank_ = 0, ranks_ = 1, rank_on_host_ = 0, ranks_on_host_ = 1;
  std::vector<std::string> hosts_;  // of all ranks
  std::vector<MPI_Request> requests_;
};

}  // namespace attn
