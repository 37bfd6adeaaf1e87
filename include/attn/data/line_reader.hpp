#pragma once
#include <cerrno>
#include <fstream>
#include <system_error>

#include "attn/core/file.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// Reads a UTF-8 file line by line, without line ends ("\n" or "\r\n", optional on the last line) and without a byte order
/// mark. Only a line feed ends a line, so line numbers agree with editors; Unicode's other separators stay in the line.
/// Also reads pipes.
class LineReader {
 public:
  /// `name` replaces the path in error messages, for example for a file read through a pipe.
  explicit LineReader(const std::filesystem::path& path, std::string name = "")
      : name_(name.empty() ? path.string() : std::move(name)) {
    std::error_code ignored;
    require(!std::filesystem::is_directory(path, ignored), "cannot read ", name_,
            ": it is a folder. Name a file inside it.");
    in_.open(path, std::ios::binary);
    const int reason = errno;
    require(in_.is_open(), "cannot read ", name_, ": ", std::strerror(reason), "; check the path and its permissions");
  }

  static constexpr std::size_t longest_line = std::size_t{16} << 20;  // bytes; longer lines are an Error

  /// Reads the next line. Returns false at the end.
  bool next(std::string& line) {
    if (!next_bytes(line)) return false;
    const std::size_t bad = utf8::first_invalid(line);
    if (bad == std::string::npos) return true;
    const bool first = lines_ == 1;
    require(!first || !line.starts_with("\3757zXZ"), name_, " is compressed. Unpack it first (xz -d).");
    require(!first || !line.starts_with("\x1F\x8B"), name_, " is compressed. Unpack it first (gzip -d).");
    fail(name_, ", line ", lines_, ": byte ", bad + 1,
         " is not valid UTF-8. Convert the file to UTF-8 (iconv), or fix the line.");
  }

  /// Like next(), but accepts bytes that are not UTF-8.
  bool next_bytes(std::string& line) {
    if (!get(line)) {
      require(!in_.bad(), "cannot read ", name_, ": reading failed after line ", lines_, "; check the disk");
      return false;
    }
    ++lines_;
    bytes_ += static_cast<Index>(line.size()) + 1;
    if (lines_ == 1) utf8::refuse_utf16(line, name_);
    if (lines_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }

  const std::string& name() const { return name_; }
  Index lines() const { return lines_; }  // read so far
  Index bytes() const { return bytes_; }  // of these lines, including line ends

 private:
  /// std::getline with a length limit.
  bool get(std::string& line) {
    char part[1 << 13];
    for (line.clear();;) {
      in_.getline(part, sizeof part);
      const bool ended = in_.good();  // by a line feed, which gcount() includes
      line.append(part, static_cast<std::size_t>(in_.gcount()) - (ended ? 1 : 0));
      if (ended || in_.eof()) return ended || !line.empty();
      if (in_.bad() || in_.gcount() == 0) return false;
      in_.clear();
      require(line.size() <= longest_line, name_, ", line ", lines_ + 1, ": longer than ", longest_line >> 20,
              " MiB. Is the file text?");
    }
  }

  std::string name_;
  std::ifstream in_;
  Index lines_ = 0, bytes_ = 0;
};

}  // namespace attn
