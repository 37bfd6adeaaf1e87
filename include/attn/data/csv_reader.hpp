#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"
#include "attn/data/line_reader.hpp"

namespace attn {

/// Reads comma-separated values (RFC 4180). A quoted field may contain commas, line breaks and doubled quotes. Returns a
/// line break inside a field as a space, because a sentence is one line.
class CsvReader {
 public:
  explicit CsvReader(const std::filesystem::path& path, std::string name = "") : lines_(path, std::move(name)) {}

  /// Reads the fields of the next row, which need not be UTF-8. Returns false at the end.
  bool next(std::vector<std::string>& fields) {
    fields.assign(1, "");
    if (!lines_.next_bytes(line_)) return false;
    const Index first = row_ = lines_.lines();
    bool quoted = false;      // inside quotes
    bool was_quoted = false;  // after the closing quote of a field
    for (std::size_t at = 0;; ++at) {
      if (at == line_.size()) {
        if (!quoted) return true;
        require(lines_.next_bytes(line_), lines_.name(), ", line ", first,
                ": a quote is never closed. Double the quotes inside a field.");
        fields.back() += ' ';
        at = std::string::npos;  // the loop increments it to 0
        continue;
      }
      const char c = line_[at];
      if (quoted && c == '"' && at + 1 < line_.size() && line_[at + 1] == '"') {
        fields.back() += '"', ++at;
      } else if (quoted) {
        if (c == '"')
          quoted = false, was_quoted = true;
        else
          fields.back() += c;
      } else if (c == ',') {
        fields.emplace_back(), was_quoted = false;
      } else {
        require(!was_quoted, lines_.name(), ", line ", lines_.lines(), ": '", c,
                "' follows a quoted field instead of a comma. Double the quotes inside a field.");
        if (c == '"' && fields.back().empty())
          quoted = true;
        else
          fields.back() += c;
      }
    }
  }

  const std::string& name() const { return lines_.name(); }
  Index line() const { return row_; }  // first line of the row
  Index bytes() const { return lines_.bytes(); }

 private:
  LineReader lines_;
  std::string line_;
  Index row_ = 0;
};

}  // namespace attn
