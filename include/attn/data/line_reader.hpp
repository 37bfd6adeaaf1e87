#pragma once
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// Reads a UTF-8 file line by line, without line ends ("\n" or "\r\n"; the last one may be missing) and without a byte order
/// mark. Only a line feed ends a line: Unicode's other separators stay inside, so that line numbers agree with every
/// editor's. Pipes can be read too.
class LineReader {
 public:
  /// `name` stands for the path in what it says: of a pipe, the file that comes through it.
  explicit LineReader(const std::filesystem::path& path, std::string name = "")
      : name_(name.empty() ? path.string() : std::move(name)) {
    std::error_code ignored;
    require(!std::filesystem::is_directory(path, ignored), "cannot read ", name_,
            ": it is a directory; name a file inside it");
    in_.open(path, std::ios::binary);
    const int reason = errno;
    require(in_.is_open(), "cannot read ", name_, ": ", std::strerror(reason), "; check the path and its permissions");
  }

  /// The next line; false when there is none.
  bool next(std::string& line) {
    if (!next_bytes(line)) return false;
    const std::size_t bad = utf8::first_invalid(line);
    if (bad != std::string::npos) refuse(line, bad);
    return true;
  }

  /// The same, of bytes that need not be UTF-8.
  bool next_bytes(std::string& line) {
    if (!std::getline(in_, line)) {
      require(!in_.bad(), "cannot read ", name_, ": reading failed after line ", lines_, "; check the disk");
      return false;
    }
    ++lines_;
    bytes_ += static_cast<Index>(line.size()) + 1;
    if (lines_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }

  const std::string& name() const { return name_; }
  Index lines() const { return lines_; }  // read so far
  Index bytes() const { return bytes_; }  // in these, line ends included

  /// Refuses the line just read, whose byte `bad` begins no character.
  [[noreturn]] void refuse(const std::string& line, std::size_t bad) const {
    const bool first = lines_ == 1;
    require(!first || !line.starts_with("\3757zXZ"), name_, " is compressed; unpack it first (xz -d does)");
    require(!first || !line.starts_with("\x1F\x8B"), name_, " is compressed; unpack it first (gzip -d does)");
    fail(name_, ", line ", lines_, ": byte ", bad + 1,
         " is not valid UTF-8; convert the file to UTF-8 (iconv does) or mend the line");
  }

 private:
  std::string name_;
  std::ifstream in_;
  Index lines_ = 0, bytes_ = 0;
};

}  // namespace attn
