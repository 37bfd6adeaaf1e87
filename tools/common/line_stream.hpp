#pragma once
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <ostream>

#include "attn/core/error.hpp"
#include "attn/core/format_count.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/train/terminal.hpp"

namespace attn {

/// Lines of arbitrary bytes from a file, pipe or terminal, delivered as soon as they are available: an interactive writer
/// gets an answer per line, and bulk input is batched. Strips a leading byte order mark. A line longer than 16 MiB or
/// UTF-16 text is an error.
class LineStream {
 public:
  explicit LineStream(int descriptor) : descriptor_(descriptor) {}
  explicit LineStream(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), owned_(true) {
    require(descriptor_ >= 0, "cannot read ", path.string(), ". Check the path and its permissions.");
  }
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;
  ~LineStream() {
    if (owned_) ::close(descriptor_);
  }

  /// Waits for a line, then returns up to `most` available lines without line endings (LF or CRLF). Empty at end of input.
  /// The last line needs no line ending.
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
    if (lines_++ == 0) {
      utf8::refuse_utf16(lines.back(), "the text");
      if (lines.back().starts_with("\xEF\xBB\xBF")) lines.back().erase(0, 3);
    }
    if (lines.back().ends_with('\r')) lines.back().pop_back();
  }
  bool ready() const {
    pollfd what{descriptor_, POLLIN, 0};
    return ::poll(&what, 1, 0) > 0;
  }
  void read_more() {
    text_.erase(0, std::exchange(first_, 0));
    const std::size_t before = text_.size();
    require(before < LineReader::longest_line, "line ", lines_ + 1, " of the text is longer than ",
            LineReader::longest_line >> 20, " MiB. Is the file text?");
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
  bool owned_ = false, ended_ = false;
  Index lines_ = 0;        // number of lines returned
  std::string text_;       // buffered input
  std::size_t first_ = 0;  // start of the next line in text_
};

/// Number of completed lines: one redrawn line on a terminal, otherwise a plain line every 30 seconds.
class LineCounter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Tests pass `now` to control the clock.
  LineCounter(std::ostream& out, bool terminal, Clock::time_point now = Clock::now())
      : out_(out), terminal_(terminal), start_(now), shown_(now) {}

  void update(Index done, Clock::time_point now = Clock::now()) {
    if (now - shown_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(30))) return;
    shown_ = now;
    show(done, now, terminal_ ? "" : "\n");
  }
  void finish(Index done, Clock::time_point now = Clock::now()) { show(done, now, "\n"); }

 private:
  void show(Index done, Clock::time_point now, const char* end) {
    out_ << (terminal_ ? "\r\x1b[K" : "") << counted(done, "line") << " in "
         << format_duration(std::chrono::duration<double>(now - start_).count()) << end << std::flush;
  }

  std::ostream& out_;
  const bool terminal_;
  const Clock::time_point start_;
  Clock::time_point shown_;
};

}  // namespace attn
