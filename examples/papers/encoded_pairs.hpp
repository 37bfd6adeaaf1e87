#pragma once
#include <charconv>
#include <filesystem>

#include "attn/core/error.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace papers {

using namespace attn;

namespace detail {

/// The ids of one side of a line, without the surrounding special tokens.
inline std::span<const Token> read_ids(std::string_view side, const WordVocabulary& vocabulary, const LineReader& reader,
                                       std::vector<Token>& ids) {
  const auto check = [&](bool right, const auto&... parts) {
    require(right, reader.name(), ", line ", reader.lines(), ": ", parts...);
  };
  ids.clear();
  while (!side.empty()) {
    const std::string_view number = side.substr(0, side.find(' '));
    side.remove_prefix(std::min(number.size() + 1, side.size()));
    Token id = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
    check(error == std::errc() && end == number.data() + number.size() && id >= 0, "'", number, "' is not an id");
    check(id < vocabulary.size(), "no word has the id ", id, ": the vocabulary has ", vocabulary.size(),
          ". Use the vocabulary that the file was created with.");
    ids.push_back(id);
  }
  check(ids.size() >= 2 && ids.front() == vocabulary.begin() && ids.back() == vocabulary.end(),
        "a sentence must begin with ", vocabulary.begin(), " and end with ", vocabulary.end());
  return std::span(ids).subspan(1, ids.size() - 2);
}

}  // namespace detail

/// Reads a file of encoded pairs: per line the source ids, a tab and the target ids. Each side is between <sos> and <eos>,
/// which the corpus drops.
inline ParallelCorpus load_encoded_pairs(const std::filesystem::path& path, const WordVocabulary& source,
                                         const WordVocabulary& target) {
  ParallelCorpus corpus;
  LineReader reader(path);
  std::vector<Token> ids;
  for (std::string line; reader.next(line);) {
    const std::string_view text = line;
    const std::size_t tab = text.find('\t');
    require(tab != text.npos && text.find('\t', tab + 1) == text.npos, reader.name(), ", line ", reader.lines(),
            ": not two sides separated by one tab");
    corpus.source.push_back(detail::read_ids(text.substr(0, tab), source, reader, ids));
    corpus.target.push_back(detail::read_ids(text.substr(tab + 1), target, reader, ids));
  }
  return corpus;
}

}  // namespace papers
