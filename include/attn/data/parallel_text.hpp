#pragma once
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// Two texts that say the same, line by line: target[i] translates source[i]. Lines may be empty.
struct ParallelText {
  std::vector<std::string> source, target;
};

/// The lines of a UTF-8 file, without line ends ("\n" or "\r\n"; the last one may be missing) and without a byte order
/// mark. Only a line feed ends a line: Unicode's other separators stay inside, so that line numbers agree with every
/// editor's.
inline std::vector<std::string> read_lines(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "cannot read ", name,
          ": it is a directory; name a file inside it");
  std::ifstream in(path, std::ios::binary);
  const int reason = errno;
  require(in.is_open(), "cannot read ", name, ": ", std::strerror(reason), "; check the path and its permissions");

  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (lines.empty() && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t bad = utf8::first_invalid(line);
    require(bad == std::string::npos, name, ", line ", lines.size() + 1, ": byte ", bad + 1,
            " is not valid UTF-8; convert the file to UTF-8 (iconv does) or mend the line");
    lines.push_back(std::move(line));
  }
  require(!in.bad(), "cannot read ", name, ": reading failed after line ", lines.size(), "; check the disk");
  return lines;
}

/// Reads two files of which line i of one translates line i of the other.
inline ParallelText read_parallel(const std::filesystem::path& source_path, const std::filesystem::path& target_path) {
  ParallelText text{read_lines(source_path), read_lines(target_path)};
  require(text.source.size() == text.target.size(), source_path.string(), " has ", text.source.size(), " lines and ",
          target_path.string(), " has ", text.target.size(),
          "; parallel files need as many lines, each the translation of the same line of the other file");
  return text;
}

}  // namespace attn
