#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"
#include "attn/data/line_reader.hpp"

namespace attn {

/// Reads rows of comma-separated values (RFC 4180): a field may stand in quotes, and then hold commas, line breaks and
/// quotes,
/// each written twice. A line break inside a field is read as a space: a sentence is one line.
class CsvReader {
 public:
  explicit CsvReader(const std::filesystem::path& path, std::string name = "") : lines_(path, std::move(name)) {}

  /// The next row's fields, which need not be UTF-8; false when there is none.
  bool next(std::vector<std::string>& fields) {
    fields.assign(1, "");
    if (!lines_.next_bytes(line_)) return false;
    const Index first = row_ = lines_.lines();
    bool quoted = false;      // inside quotes
    bool was_quoted = false;  // after the quote that ends a field
    for (std::size_t at = 0;; ++at) {
      if (at == line_.size()) {
        if (!quoted) return true;
        require(lines_.next_bytes(line_), lines_.name(), ", line ", first,
                ": a quote is opened and never closed; write quotes inside a field twice");
        fields.back() += ' ';
        at = std::string::npos;  // the loop goes on at 0
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
        require(!was_quoted, lines_.name(), ", line ", lines_.lines(), ": after a field in quotes comes '", c,
                "' instead of a comma; write quotes inside a field twice");
        if (c == '"' && fields.back().empty())
          quoted = true;
        else
          fields.back() += c;
      }
    }
  }

  const std::string& name() const { return lines_.name(); }
  Index line() const { return row_; }  // where the row begins
  Index bytes() const { return lines_.bytes(); }

 private:
  LineReader lines_;
  std::string line_;
  Index row_ = 0;
};

}  // namespace attn
