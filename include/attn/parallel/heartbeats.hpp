#pragma once
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "attn/core/types.hpp"

namespace attn {

/// The position of a rank in its work, as it tells the others.
struct RankProgress {
  Index calls = 0;   // collective operations that it has begun: equal on all ranks when they do the same work
  Index marks = 0;   // grows whenever it gets further
  double limit = 0;  // seconds until the next mark, after which the rank counts as hanging; 0: none
};

/// Detects killed, stopped, unreachable and hanging ranks among processes that share a folder. Each rank writes a count and
/// its progress to a file and reads the file of the next rank, in a ring: if any ranks are dead, one of them is next to a
/// living one. Ranks that wait make no progress either, so only a rank that has begun fewer operations than this one, and
/// not more than any other, counts as hanging.
///
/// Clocks of machines may differ, so a rank is judged by changes of its file over the reader's own time. Long gaps between
/// two calls count as a quarter of the limit at most: then this process was stopped itself, or the folder was slow.
class Heartbeats {
 public:
  /// `names`: one per rank, different at every start, so that files of an earlier start do not count. `limit`: seconds.
  Heartbeats(std::filesystem::path folder, Index rank, std::vector<std::string> names, double limit)
      : folder_(std::move(folder)), names_(std::move(names)), rank_(rank), limit_(limit), next_(after(rank)) {}

  /// Call at least ten times within the limit. Returns the next rank if it has been silent for the limit, otherwise -1.
  Index beat(const RankProgress& mine = {}) {
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double>(now - last_).count();
    if (passed < limit_ / 20) return -1;
    last_ = now;
    std::ostringstream said;
    said << ++count_ << " " << mine.calls << " " << mine.marks << " " << mine.limit;
    write(said.str());
    std::string text = read(next_);
    while (next_ != rank_ && ended(next_, text)) next_ = after(next_), text = read(next_), silent_ = 0, its_ = {};
    hanging_ = -1;
    if (next_ == rank_) return -1;
    const bool alive = text != heard_ && text.starts_with(name(next_));
    const double gap = std::min(passed, limit_ / 4);
    silent_ = alive ? 0 : silent_ + gap;
    if (alive) heard_ = text;
    const std::optional<RankProgress> news = progress(next_, text);
    stuck_ = news && news->marks != its_.marks ? 0 : stuck_ + gap;
    its_ = news.value_or(its_);
    if (its_.limit > 0 && stuck_ > its_.limit && its_.calls < mine.calls && all_wait_for_next()) hanging_ = next_;
    return silent_ > limit_ ? next_ : -1;
  }
  /// The next rank if it was hanging at the latest beat, otherwise -1.
  Index hanging() const { return hanging_; }
  double limit_of_next() const { return its_.limit; }

  /// Tells the others that this rank has completed its work.
  void end() const { write(kEnded); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr const char* kEnded = "ended";

  Index after(Index rank) const { return (rank + 1) % std::ssize(names_); }
  bool ended(Index rank, const std::string& text) const { return text == name(rank) + kEnded; }
  std::optional<RankProgress> progress(Index rank, const std::string& text) const {
    if (!text.starts_with(name(rank))) return {};
    std::istringstream words(text.substr(name(rank).size()));
    RankProgress found;
    Index count = 0;
    return words >> count >> found.calls >> found.marks >> found.limit ? std::optional(found) : std::nullopt;
  }
  /// Whether no other rank has begun fewer operations than the next one. A file that is just being written says nothing.
  bool all_wait_for_next() const {
    for (Index other = after(next_); other != next_; other = after(other)) {
      const std::string text = read(other);
      const std::optional<RankProgress> its = progress(other, text);
      if (!ended(other, text) && (!its || its->calls < its_.calls)) return false;
    }
    return true;
  }
  std::string name(Index rank) const { return names_[static_cast<std::size_t>(rank)] + " "; }
  std::filesystem::path file(Index rank) const { return folder_ / ("alive." + std::to_string(rank)); }
  /// In place: NFS shows changes of a file to whoever opens it, but may cache the old file of a name for a minute.
  void write(const std::string& text) const { std::ofstream(file(rank_)) << name(rank_) << text; }
  std::string read(Index rank) const {
    std::ifstream in(file(rank));
    std::string text;
    std::getline(in, text);
    return text;
  }

  std::filesystem::path folder_;
  std::vector<std::string> names_;
  Index rank_;
  double limit_;
  Index next_;         // the rank that this one watches
  std::string heard_;  // the last change of its file
  double silent_ = 0;  // seconds since then
  RankProgress its_;   // of the next rank
  double stuck_ = 0;   // seconds since its marks changed
  Index hanging_ = -1;
  Index count_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace attn
