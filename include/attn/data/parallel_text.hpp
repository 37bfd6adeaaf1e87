#pragma once
#include "attn/data/pair_reader.hpp"

namespace attn {

/// A parallel text: target[i] translates source[i]. Lines may be empty.
struct ParallelText {
  std::vector<std::string> source, target;
};

// Files may be compressed (see PackedFile).

/// Reads the lines of a UTF-8 file (see LineReader).
inline std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  PackedFile file(path);
  LineReader reader(file.path(), path.string());
  for (std::string line; reader.next(line);) lines.push_back(std::move(line));
  file.close();
  return lines;
}

/// Calls visit(source line, target line), both std::string&, for each pair of lines of two parallel files. Keeps one pair
/// in memory.
void for_each_pair(const std::filesystem::path& source_path, const std::filesystem::path& target_path, auto&& visit) {
  constexpr bool check_utf8 = true;
  PairReader reader({PairFormat::lines, source_path, target_path}, UnequalLines::refuse, check_utf8);
  for (std::string source, target; reader.next(source, target);) visit(source, target);
}

/// Reads two parallel files: line i of one translates line i of the other.
inline ParallelText read_parallel(const std::filesystem::path& source_path, const std::filesystem::path& target_path) {
  ParallelText text;
  for_each_pair(source_path, target_path, [&](std::string& source, std::string& target) {
    text.source.push_back(std::move(source));
    text.target.push_back(std::move(target));
  });
  return text;
}

/// Statistics of sentence lengths.
class LengthStatistics {
 public:
  void add(Index length) {
    LengthStatistics one;
    one.sentences_ = 1, one.total_ = one.shortest_ = one.longest_ = length;
    add(one);
  }
  void add(const LengthStatistics& others) {
    if (others.sentences_ == 0) return;
    shortest_ = sentences_ == 0 ? others.shortest_ : std::min(shortest_, others.shortest_);
    longest_ = std::max(longest_, others.longest_);
    total_ += others.total_;
    sentences_ += others.sentences_;
  }

  Index sentences() const { return sentences_; }
  Index total() const { return total_; }
  Index shortest() const { return shortest_; }  // 0 without sentences, like the others
  Index longest() const { return longest_; }
  double average() const { return sentences_ == 0 ? 0 : static_cast<double>(total_) / static_cast<double>(sentences_); }

  /// The average rounded up, as papers report it. Integer arithmetic avoids double rounding.
  Index average_rounded_up() const { return sentences_ == 0 ? 0 : (total_ + sentences_ - 1) / sentences_; }

 private:
  Index sentences_ = 0, total_ = 0, shortest_ = 0, longest_ = 0;
};

}  // namespace attn
