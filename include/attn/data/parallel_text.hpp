#pragma once
#include "attn/core/format_count.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/data/packed_file.hpp"

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
  PackedFile source_file(source_path), target_file(target_path);
  LineReader source(source_file.path(), source_path.string()), target(target_file.path(), target_path.string());
  std::string source_line, target_line;
  while (true) {
    const bool more_source = source.next(source_line), more_target = target.next(target_line);
    if (!more_source && !more_target) return source_file.close(), target_file.close();
    if (more_source != more_target) break;
    visit(source_line, target_line);
  }
  while (source.next(source_line) || target.next(target_line)) continue;
  source_file.close(), target_file.close();  // a damaged file ends early
  fail(source.name(), " has ", counted(source.lines(), "line"), " and ", target.name(), " has ", target.lines(),
       ". Parallel files need the same number of lines: line i of one translates line i of the other.");
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
    shortest_ = sentences_ == 0 ? length : std::min(shortest_, length);
    longest_ = std::max(longest_, length);
    total_ += length;
    ++sentences_;
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
