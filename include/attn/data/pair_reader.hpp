#pragma once
#include "attn/core/format_count.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/data/packed_file.hpp"

namespace attn {

/// Reads the fields of the next row of comma-separated values (RFC 4180), which need not be UTF-8. Returns false at the end.
/// A quoted field may contain commas, line breaks and doubled quotes. A line break inside a field becomes a space, because a
/// sentence is one line.
inline bool next_csv_row(LineReader& lines, std::vector<std::string>& fields) {
  fields.assign(1, "");
  std::string line;
  if (!lines.next_bytes(line)) return false;
  const Index first = lines.lines();
  bool quoted = false;      // inside quotes
  bool was_quoted = false;  // after the closing quote of a field
  for (std::size_t at = 0;; ++at) {
    if (at == line.size()) {
      if (!quoted) return true;
      require(lines.next_bytes(line), lines.name(), ", line ", first,
              ": a quote is never closed. Double the quotes inside a field.");
      fields.back() += ' ';
      at = std::string::npos;  // the loop increments it to 0
      continue;
    }
    const char c = line[at];
    if (quoted && c == '"' && at + 1 < line.size() && line[at + 1] == '"') {
      fields.back() += '"', ++at;
    } else if (quoted && c == '"') {
      quoted = false, was_quoted = true;
    } else if (!quoted && c == ',') {
      fields.emplace_back(), was_quoted = false;
    } else {
      require(!was_quoted, lines.name(), ", line ", lines.lines(), ": '", c,
              "' follows a quoted field instead of a comma. Double the quotes inside a field.");
      if (!quoted && c == '"' && fields.back().empty())
        quoted = true;
      else
        fields.back() += c;
    }
  }
}

enum class PairFormat { lines, tsv, csv };
enum class UnequalLines { refuse, drop };  // drop: the extra lines at the end of the longer file

/// The files of a parallel text: two files with translations on the same line, or one file with a column for each language.
/// All may be compressed (.xz, .gz).
struct PairFiles {
  PairFormat format = PairFormat::lines;
  std::filesystem::path source, target = {};  // target: lines format only
  /// Column names from the first row, or column numbers from 1 if there is no header row.
  std::string source_column = "1", target_column = "2";
};

/// Reads pairs one by one. Checks UTF-8 only in the lines format and with `check_utf8`; pair_rules.hpp checks the others.
class PairReader {
 public:
  explicit PairReader(const PairFiles& files, UnequalLines unequal = UnequalLines::refuse, bool check_utf8 = false)
      : format_(files.format),
        unequal_(unequal),
        next_line_(check_utf8 ? &LineReader::next : &LineReader::next_bytes),
        source_file_(files.source),
        source_(source_file_.path(), files.source.string()) {
    if (format_ == PairFormat::lines) {
      target_file_.emplace(files.target);
      target_.emplace(target_file_->path(), files.target.string());
      return;
    }
    const auto source = parse_index(files.source_column, 1), target = parse_index(files.target_column, 1);
    require(source.has_value() == target.has_value(), source_.name(), ": '", files.source_column, "' and '",
            files.target_column, "' mix a name and a number. Give two names or two numbers.");
    if (source) {
      source_column_ = static_cast<std::size_t>(*source) - 1, target_column_ = static_cast<std::size_t>(*target) - 1;
      return;
    }
    if (!next_row(fields_)) fields_.clear();
    for (const auto& [column, place] :
         {std::pair(&files.source_column, &source_column_), {&files.target_column, &target_column_}}) {
      const auto found = std::find(fields_.begin(), fields_.end(), *column);
      std::string known;
      for (const std::string& field : fields_) known += (known.empty() ? "'" : ", '") + field + "'";
      require(found != fields_.end(), source_.name(), ": its first row has no column '", *column, "'; it has ",
              known.empty() ? "none" : known, "; name two of these columns, or use numbers if there is no header row");
      *place = static_cast<std::size_t>(found - fields_.begin());
    }
  }

  /// Reads the next pair. Returns false at the end.
  bool next(std::string& source, std::string& target) {
    row_ = source_.lines() + 1;
    if (format_ == PairFormat::lines) return next_lines(source, target);
    if (!next_row(fields_)) return close();
    if (fields_.size() == 1 && fields_[0].empty()) {  // an empty line
      source.clear(), target.clear();
      return true;
    }
    const std::size_t needed = std::max(source_column_, target_column_) + 1;
    if (fields_.size() < needed) close();  // the last row of a damaged file may be incomplete
    require(fields_.size() >= needed, where(), ": the row has ", counted(fields_.size(), "column"),
            ", but you asked for column ", needed, ". Correct the row, or select other columns.");
    source = std::move(fields_[source_column_]);
    target = std::move(fields_[target_column_]);
    return true;
  }

  /// The location of the last pair read: "train.tsv, line 7".
  std::string where() const {
    return source_.name() + ", line " + std::to_string(format_ == PairFormat::csv ? row_ : source_.lines());
  }
  /// Bytes of the source file read so far; empty if it is compressed.
  std::optional<Index> bytes() const { return source_file_.packed() ? std::nullopt : std::optional(source_.bytes()); }
  Index unpaired() const { return unpaired_; }  // lines dropped because the other file is shorter

 private:
  bool next_lines(std::string& source, std::string& target) {
    const bool more_source = (source_.*next_line_)(source), more_target = (*target_.*next_line_)(target);
    if (more_source && more_target) return true;
    if (more_source == more_target) return close();
    unpaired_ = 1;
    while (more_source ? (source_.*next_line_)(source) : (*target_.*next_line_)(target)) ++unpaired_;
    close();  // a damaged file ends early
    require(unequal_ == UnequalLines::drop, source_.name(), " has ", counted(source_.lines(), "line"), " and ",
            target_->name(), " has ", target_->lines(),
            ". Parallel files need the same number of lines: line i of one translates line i of the other.");
    return false;
  }
  bool next_row(std::vector<std::string>& fields) {
    if (format_ == PairFormat::csv) try {
        return next_csv_row(source_, fields);
      } catch (const std::exception&) {
        close();  // a damaged file may end inside quotes
        throw;
      }
    std::string line;
    if (!source_.next_bytes(line)) return false;
    fields.clear();
    std::string_view rest = line;
    for (std::size_t tab = 0; tab != rest.npos; rest.remove_prefix(tab == rest.npos ? 0 : tab + 1)) {
      tab = rest.find('\t');
      fields.emplace_back(rest.substr(0, tab));
    }
    return true;
  }
  bool close() {
    source_file_.close();
    if (target_file_) target_file_->close();
    return false;
  }

  PairFormat format_;
  UnequalLines unequal_;
  bool (LineReader::*next_line_)(std::string&);
  PackedFile source_file_;
  LineReader source_;
  std::optional<PackedFile> target_file_;
  std::optional<LineReader> target_;
  std::size_t source_column_ = 0, target_column_ = 1;
  std::vector<std::string> fields_;
  Index row_ = 0, unpaired_ = 0;  // row_: first line of the CSV row read last
};

}  // namespace attn
