#pragma once
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "attn/core/random.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Lines of so many words of up to eight letters, of which there are more than a soak meets.
inline std::vector<std::string> random_lines(std::uint64_t seed, Index count, Index fewest_words, Index most_words) {
  std::vector<std::string> lines;
  Random random(seed);
  for (Index i = 0; i < count; ++i) {
    std::string& line = lines.emplace_back();
    for (Index words = fewest_words + random.below(most_words - fewest_words + 1); words > 0; --words) {
      for (Index letters = 1 + random.below(8); letters > 0; --letters) line += static_cast<char>('a' + random.below(26));
      line += words > 1 ? " " : "";
    }
  }
  return lines;
}

/// Of the process, in memory.
inline long long resident_bytes() {
  long long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace attn
