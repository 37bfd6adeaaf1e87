#pragma once
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"

namespace attn {

/// Lines of a file, a pipe or a terminal, whatever bytes they hold, as soon as they are there: whoever writes a line and
/// waits for an answer gets one, and whoever writes many has them taken together. A byte order mark is no part of the first.
class ReadyLines {
 public:
  explicit ReadyLines(int descriptor) : descriptor_(descriptor) {}
  explicit ReadyLines(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), owned_(true) {
    require(descriptor_ >= 0, "cannot read ", path.string(), "; check the path and its permissions");
  }
  ReadyLines(const ReadyLines&) = delete;
  ReadyLines& operator=(const ReadyLines&) = delete;
  ~ReadyLines() {
    if (owned_) ::close(descriptor_);
  }

  /// Waits for a line, then takes those that have come, `most` at most, without their ends (LF or CRLF); none at the end of
  /// all. A last line needs no end.
  std::vector<std::string> next(std::size_t most) {
    std::vector<std::string> lines;
    while (lines.size() < most) {
      const std::size_t end = text_.find('\n', first_);
      if (end != std::string::npos) {
        add(lines, end);
        first_ = end + 1;
      } else if (ended_) {
        if (first_ < text_.size()) add(lines, text_.size());
        first_ = text_.size();
        break;
      } else if (!lines.empty() && !ready()) {
        break;
      } else {
        read_more();
      }
    }
    return lines;
  }

 private:
  void add(std::vector<std::string>& lines, std::size_t end) {
    lines.push_back(text_.substr(first_, end - first_));
    if (std::exchange(at_start_, false) && lines.back().starts_with("\xEF\xBB\xBF")) lines.back().erase(0, 3);
    if (lines.back().ends_with('\r')) lines.back().pop_back();
  }
  bool ready() const {
    pollfd what{descriptor_, POLLIN, 0};
    return ::poll(&what, 1, 0) > 0;
  }
  void read_more() {
    text_.erase(0, std::exchange(first_, 0));
    const std::size_t before = text_.size();
    constexpr std::size_t kAtOnce = 1 << 16;
    text_.resize(before + kAtOnce);
    ssize_t count = -1;
    do count = ::read(descriptor_, text_.data() + before, kAtOnce);
    while (count < 0 && errno == EINTR);
    const int reason = errno;
    require(count >= 0, "cannot read the text: ", std::strerror(reason));
    text_.resize(before + static_cast<std::size_t>(count));
    ended_ = count == 0;
  }

  int descriptor_;
  bool owned_ = false, ended_ = false, at_start_ = true;
  std::string text_;       // what was read and not yet given
  std::size_t first_ = 0;  // where in it the next line begins
};

}  // namespace attn
