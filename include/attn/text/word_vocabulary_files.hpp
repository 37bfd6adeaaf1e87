#pragma once
#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace attn {

/// Reads a file of `word,id` lines in any order. A word may contain commas.
inline WordVocabulary load_word_vocabulary(const std::filesystem::path& path) {
  const std::string contents = read_text_file(path);
  const bool open_end = !contents.empty() && !contents.ends_with('\n');
  std::vector<std::string> words(static_cast<std::size_t>(std::ranges::count(contents, '\n')) + (open_end ? 1 : 0));
  std::vector<Index> line_of(words.size(), 0);
  std::string_view rest = contents;
  for (Index number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);

    const std::size_t comma = line.rfind(',');
    require(comma != line.npos && comma > 0, path.string(), ", line ", number, ": '", line, "' is not `word,id`");
    require(utf8::first_invalid(line) == line.npos, path.string(), ", line ", number,
            ": not valid UTF-8. Convert the file to UTF-8.");
    const std::string_view digits = line.substr(comma + 1);
    const std::optional<Index> id = parse_index(digits);
    require(id.has_value(), path.string(), ", line ", number, ": '", digits, "' is not an id");
    const auto place = static_cast<std::size_t>(*id);
    require(place < words.size(), path.string(), ", line ", number, ": the id ", place, " is too high for ", words.size(),
            " words: ids must be the whole numbers from 0 on, each once");
    require(line_of[place] == 0, path.string(), ", line ", number, ": duplicate id ", place, ", already used in line ",
            line_of[place]);
    line_of[place] = number;
    words[place] = line.substr(0, comma);
  }
  try {
    return WordVocabulary(std::move(words));
  } catch (const Error& error) {
    fail(path.string(), ": ", error.what());
  }
}

/// Writes the file that load_word_vocabulary reads.
inline void save_word_vocabulary(const WordVocabulary& vocabulary, const std::filesystem::path& path) {
  std::string contents;
  for (Index id = 0; const std::string& word : vocabulary.words()) contents += word + ',' + std::to_string(id++) + '\n';
  write_file(path, contents);
}

}  // namespace attn
