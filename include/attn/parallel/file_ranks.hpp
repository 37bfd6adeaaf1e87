#pragma once
#include <cstdlib>
#include <exception>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>

#include "attn/core/file.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/parallel/heartbeats.hpp"

namespace attn {

/// Communication through files in a shared folder, for processes that know their rank and have no MPI. Suffices for NCCL's
/// handshake and the few numbers of a report; NCCL sums the gradients.
///
/// Files of an earlier start are not mistaken for answers: each process draws a random name and trusts a rank only if that
/// has read it. A failing rank writes its reason to a file, which ends the others within a second. A thread of each rank
/// notices killed, stopped and hanging processes.
class FileRanks final : public Communicator {
 public:
  /// `patience`: seconds to wait for the answer of another rank. `silence`: seconds without a heartbeat, or without progress in
  /// a step, until a process counts as dead.
  FileRanks(std::filesystem::path folder, Index rank, Index ranks, double patience = 600, double silence = 45)
      : folder_(std::move(folder)), rank_(rank), ranks_(ranks), patience_(patience), silence_(silence), names_(size()) {
    require(rank >= 0 && rank < ranks, "rank ", rank, " is not one of ", ranks, " ranks");
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    std::random_device random;
    names_[at(rank)] = std::to_string(random()) + "-" + std::to_string(random());
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    hosts_.assign(size(), "an unknown machine");
    hosts_[at(rank)] = name;
    find_others();
    hosts_ = gather(name);
    watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }
  FileRanks(const FileRanks&) = delete;
  /// After an exception, ends the other ranks too; they would wait in vain.
  ~FileRanks() override {
    if (std::uncaught_exceptions() > 0) (void)stop_all(1, "ended by an exception");
  }

  std::string name() const override { return "files"; }
  Index rank() const override { return rank_; }
  Index ranks() const override { return ranks_; }
  Index rank_on_host() const override { return std::count(hosts_.begin(), hosts_.begin() + rank_, host(rank_)); }
  Index ranks_on_host() const override { return std::ranges::count(hosts_, host(rank_)); }
  std::string host(Index rank) const override { return hosts_[at(rank)]; }

  void begin_sum(SharedNumbers numbers, void* = nullptr) override {
    const std::vector<std::string> all = gather(bytes_of(numbers));
    numbers.is_double ? add<double>(numbers, all) : add<float>(numbers, all);
  }
  void begin_sum_at(Index, SharedNumbers numbers, void* = nullptr) override { begin_sum(numbers); }
  void begin_broadcast(Index from, SharedNumbers numbers, void* = nullptr) override {
    const std::string sent = gather(rank_ == from ? bytes_of(numbers) : "")[at(from)];
    std::memcpy(numbers.data, sent.data(), sent.size());
  }

  std::vector<std::string> gather(const std::string& mine) override {
    const Index round = round_++;
    begin_call();
    write_file(file(round, rank_), names_[at(rank_)] + "\n" + mine);
    std::vector<std::string> all(size());
    for (Index other = 0; other < ranks_; ++other)
      until(other, [&] {
        const std::string text = read(file(round, other)), name = names_[at(other)] + "\n";
        if (!text.starts_with(name)) return false;
        all[at(other)] = text.substr(name.size());
        return true;
      });
    // All ranks have written this round, so they have read the previous one.
    if (std::error_code ignored; round > 0) std::filesystem::remove(file(round - 1, rank_), ignored);
    return all;
  }

  void check_ranks() override { begin_call(); }
  /// A step may take four times as long as the longest so far. The first batches may load kernels and connect to others.
  void begin_batch() override {
    const std::lock_guard held(progress_lock_);
    mark(Clock::now());
    if (++batches_ > 3) progress_.limit = std::clamp(4 * longest_, silence_, std::max(silence_, patience_));
  }
  void end_step() override {
    const std::lock_guard held(progress_lock_);
    mark({});
  }

  int stop_all(int status, const std::string& why) override {
    const std::string sentence = "rank " + std::to_string(rank_) + " on " + host(rank_) + ": " + why;
    std::fprintf(stderr, "%s\n", sentence.c_str());
    try {
      write_file(folder_ / "failed", names_[0] + "\n" + sentence);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    return status;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Index kMost = Index{1} << 20;  // maximum numbers per operation

  std::size_t size() const { return at(ranks_); }
  static std::size_t at(Index rank) { return static_cast<std::size_t>(rank); }
  std::filesystem::path file(Index round, Index rank) const {
    return folder_ / (std::to_string(round) + "." + std::to_string(rank));
  }
  static std::string read(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return {};
    try {
      return read_file(path);
    } catch (const Error&) {  // just removed
      return {};
    }
  }
  static std::string bytes_of(const SharedNumbers& numbers) {
    require(numbers.count <= kMost, "ranks that meet in a folder cannot add up ", numbers.count, " numbers, only ", kMost,
            ". Use GPUs with NCCL, or mpirun.");
    return {static_cast<const char*>(numbers.data), numbers.bytes()};
  }
  template <class Number>
  void add(SharedNumbers numbers, const std::vector<std::string>& all) const {
    auto* sums = static_cast<Number*>(numbers.data);
    std::fill(sums, sums + numbers.count, Number{0});
    for (const std::string& one : all)
      for (Index i = 0; i < numbers.count; ++i) {
        Number number;
        std::memcpy(&number, one.data() + at(i) * sizeof(Number), sizeof(Number));
        sums[i] += number;
      }
  }

  void until(Index other, const auto& done) {
    const auto start = Clock::now();
    bool announced = round_ > 0;  // announce the wait after ten seconds, at startup only
    for (Index tries = 0; !done(); ++tries) {
      const double waited = std::chrono::duration<double>(Clock::now() - start).count();
      if (!announced && waited > std::min(10.0, patience_ / 2)) {
        announced = true;
        std::fprintf(stderr, "rank %d waits for rank %d of %d in %s, up to %.0f s\n", static_cast<int>(rank_),
                     static_cast<int>(other), static_cast<int>(ranks_), folder_.c_str(), patience_);
      }
      require(waited < patience_, "rank ", other, " on ", host(other), " has not answered for ",
              static_cast<Index>(patience_), " s. All ranks end; the last checkpoint is complete");
      std::this_thread::sleep_for(std::chrono::milliseconds(tries < 100 ? 1 : 20));
    }
  }

  /// Each rank writes its name and the names it has read, until all others have read its own.
  void find_others() {
    const auto hello = [&](Index rank) { return folder_ / ("hello." + std::to_string(rank)); };
    const auto greet = [&] {
      std::string text;
      for (const std::string& name : names_) text += (name.empty() ? "-" : name) + "\n";
      write_file(hello(rank_), text);
    };
    greet();
    std::vector<bool> heard(size());
    heard[at(rank_)] = true;
    for (Index other = 0; other < ranks_; ++other)
      until(other, [&] {
        bool news = false;
        for (Index one = 0; one < ranks_; ++one) {
          if (one == rank_) continue;
          std::istringstream lines(read(hello(one)));
          std::vector<std::string> seen(size());
          for (std::string& name : seen) lines >> name;
          if (seen[at(one)].empty()) continue;
          news = news || names_[at(one)] != seen[at(one)];
          names_[at(one)] = seen[at(one)];
          heard[at(one)] = seen[at(rank_)] == names_[at(rank_)];
        }
        if (news) greet();
        return static_cast<bool>(heard[at(other)]);
      });
  }

  void begin_call() {
    const std::lock_guard held(progress_lock_);
    ++progress_.calls, ++progress_.marks;
  }
  /// Ends the current batch, if there is one. `next`: the start of the next, or none.
  void mark(Clock::time_point next) {
    if (begun_ != Clock::time_point{})
      longest_ = std::max(longest_, std::chrono::duration<double>(Clock::now() - begun_).count());
    begun_ = next;
    ++progress_.marks;
    progress_.limit = patience_;
  }
  RankProgress progress() {
    const std::lock_guard held(progress_lock_);
    return progress_;
  }

  /// Ends the process when another rank has failed, is silent or hangs.
  void watch(const std::stop_token& stop) {
    Heartbeats heartbeats(folder_, rank_, names_, silence_);
    while (!stop.stop_requested()) {
      for (int i = 0; i < 10 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const Index silent = heartbeats.beat(progress());
      if (const Index lost = std::max(silent, heartbeats.hanging()); lost >= 0) {
        std::ostringstream why;
        why << "rank " << lost << " on " << host(lost);
        if (silent >= 0)
          why << " sent no heartbeat for " << silence_
              << " s: its process was killed or stopped, or its machine is unreachable";
        else
          why << " has made no progress for " << heartbeats.limit_of_next() << " s, and all others wait for it: it hangs";
        why << ". All ranks end; the last checkpoint is complete. End that process if it still exists, then start all "
               "ranks again with --resume. On slow machines, set ATTN_HEARTBEAT_TIMEOUT to more seconds";
        std::_Exit(stop_all(1, why.str()));
      }
      const std::string text = read(folder_ / "failed");
      if (!text.starts_with(names_[0] + "\n") || text.starts_with(names_[0] + "\nrank " + std::to_string(rank_) + " "))
        continue;
      std::fprintf(stderr, "rank %d ends: %s\n", static_cast<int>(rank_), text.substr(names_[0].size() + 1).c_str());
      std::_Exit(1);
    }
    heartbeats.end();
  }

  std::filesystem::path folder_;
  Index rank_, ranks_;
  double patience_, silence_;
  std::vector<std::string> names_;  // random names of the processes
  std::vector<std::string> hosts_;
  Index round_ = 0;
  std::mutex progress_lock_;
  RankProgress progress_;      // read by the watch
  Clock::time_point begun_{};  // the current batch
  double longest_ = 0;         // batch so far, in seconds
  Index batches_ = 0;
  std::jthread watch_;  // last member: stops first
};

}  // namespace attn
