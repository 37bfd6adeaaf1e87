#pragma once
#include <algorithm>
#include <charconv>
#include <compare>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attn/data/line_reader.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// A word of a source sentence and one of its translation that say the same; words count from 0.
struct WordLink {
  Index source = 0, target = 0;
  auto operator<=>(const WordLink&) const = default;
};

/// What people who aligned a sentence pair agreed on, and what at least one of them saw. Both in order, each link once.
struct GoldAlignment {
  std::vector<WordLink> sure;
  std::vector<WordLink> possible;  // the sure ones included
};

/// Which word of a gold file's links comes first.
enum class LinkOrder { source_target, target_source };

/// Reads a line of a file in the format talp: links with spaces between them, `3-4` a sure one, `3p4` a possible one, words
/// counting from 1. `where` begins the sentence that says what is wrong.
inline GoldAlignment parse_alignment(std::string_view line, LinkOrder order, const std::string& where) {
  GoldAlignment gold;
  for_each_spaced_word(line, [&](std::string_view link) {
    const auto refuse = [&] {
      fail(where, "'", link, "' is not a link; write 3-4 for a sure one and 3p4 for a possible one, words counting from 1");
    };
    const char* const last = link.data() + link.size();
    Index first_word = 0, second_word = 0;
    const auto first = std::from_chars(link.data(), last, first_word);
    if (first.ec != std::errc() || first.ptr == last || (*first.ptr != '-' && *first.ptr != 'p')) refuse();
    const auto second = std::from_chars(first.ptr + 1, last, second_word);
    if (second.ec != std::errc() || second.ptr != last || first_word < 1 || second_word < 1) refuse();
    if (order == LinkOrder::target_source) std::swap(first_word, second_word);
    gold.possible.push_back({first_word - 1, second_word - 1});
    if (*first.ptr == '-') gold.sure.push_back(gold.possible.back());
  });
  for (auto* links : {&gold.sure, &gold.possible}) {
    std::sort(links->begin(), links->end());
    links->erase(std::unique(links->begin(), links->end()), links->end());
  }
  return gold;
}

/// Reads such a file: line i aligns sentence pair i.
inline std::vector<GoldAlignment> read_alignments(const std::filesystem::path& path,
                                                  LinkOrder order = LinkOrder::source_target) {
  std::vector<GoldAlignment> all;
  LineReader reader(path);
  for (std::string line; reader.next(line);)
    all.push_back(parse_alignment(line, order, reader.name() + ", line " + std::to_string(reader.lines()) + ": "));
  return all;
}

}  // namespace attn
