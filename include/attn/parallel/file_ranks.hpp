#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <random>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/file.hpp"
#include "attn/parallel/communicator.hpp"

namespace attn {

/// Processes that know their number and share a folder, and no MPI: what they have to say is in files. That is enough for NCCL's
/// handshake and for the few numbers of a report; gradients are NCCL's to sum.
///
/// What an earlier start has left in the folder is not mistaken for an answer: every process draws a number, and believes a rank
/// that has read it. A rank that fails leaves a file of why, which ends the others within a second.
class FileRanks final : public Communicator {
 public:
  /// `patience`: seconds that a rank waits for the others before it takes them for dead.
  FileRanks(std::filesystem::path folder, Index rank, Index ranks, double patience = 600)
      : folder_(std::move(folder)), rank_(rank), ranks_(ranks), patience_(patience), names_(size()) {
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
  /// After an error the others wait in vain: they end with this rank.
  ~FileRanks() override {
    if (std::uncaught_exceptions() > 0) (void)stop_all(1, "ended by an exception");
  }

  std::string name() const override { return "files"; }
  Index rank() const override { return rank_; }
  Index ranks() const override { return ranks_; }
  Index rank_on_host() const override {
    Index before = 0;
    for (Index i = 0; i < rank_; ++i) before += hosts_[at(i)] == hosts_[at(rank_)] ? 1 : 0;
    return before;
  }
  Index ranks_on_host() const override {
    Index all = 0;
    for (const std::string& host : hosts_) all += host == hosts_[at(rank_)] ? 1 : 0;
    return all;
  }
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
    write_file(file(round, rank_), names_[at(rank_)] + "\n" + mine);
    std::vector<std::string> all(size());
    for (Index other = 0; other < ranks_; ++other)
      until(other, [&] {
        const std::string text = read(file(round, other)), name = names_[at(other)] + "\n";
        if (!text.starts_with(name)) return false;
        all[at(other)] = text.substr(name.size());
        return true;
      });
    // All have written this round, so they have read those before it.
    if (std::error_code ignored; round > 0) std::filesystem::remove(file(round - 1, rank_), ignored);
    return all;
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
  static constexpr Index kMost = Index{1} << 20;  // numbers that go through files

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
    } catch (const Error&) {  // it has just been removed
      return {};
    }
  }
  static std::string bytes_of(const SharedNumbers& numbers) {
    require(numbers.count <= kMost, "ranks that share no more than a folder cannot add up ", numbers.count,
            " numbers: start them on GPUs with NCCL, or with mpirun");
    return {static_cast<const char*>(numbers.data),
            at(numbers.count) * (numbers.is_double ? sizeof(double) : sizeof(float))};
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

  template <class Done>
  void until(Index other, const Done& done) {
    const auto start = Clock::now();
    bool said = round_ > 0;  // whom a start waits for is said after ten seconds
    for (Index tries = 0; !done(); ++tries) {
      const double waited = std::chrono::duration<double>(Clock::now() - start).count();
      if (!said && waited > std::min(10.0, patience_ / 2)) {
        said = true;
        std::fprintf(stderr, "rank %d waits for rank %d of %d in %s, for %.0f s at most\n", static_cast<int>(rank_),
                     static_cast<int>(other), static_cast<int>(ranks_), folder_.c_str(), patience_);
      }
      require(waited < patience_, "rank ", other, " on ", host(other), " has not answered for ",
              static_cast<Index>(patience_), " s: all ranks end; the last checkpoint is whole");
      std::this_thread::sleep_for(std::chrono::milliseconds(tries < 100 ? 1 : 20));
    }
  }

  /// Each writes its name and those that it has read, until all others have read its own.
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

  /// Ends the process when another rank has failed, whatever it waits for.
  void watch(const std::stop_token& stop) const {
    while (!stop.stop_requested()) {
      for (int i = 0; i < 10 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::string text = read(folder_ / "failed");
      if (!text.starts_with(names_[0] + "\n") || text.starts_with(names_[0] + "\nrank " + std::to_string(rank_) + " "))
        continue;
      std::fprintf(stderr, "rank %d ends: %s\n", static_cast<int>(rank_), text.substr(names_[0].size() + 1).c_str());
      std::_Exit(1);
    }
  }

  std::filesystem::path folder_;
  Index rank_, ranks_;
  double patience_;
  std::vector<std::string> names_;  // that processes have drawn
  std::vector<std::string> hosts_;
  Index round_ = 0;
  std::jthread watch_;  // the last: it ends first
};

}  // namespace attn
