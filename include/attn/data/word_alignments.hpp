#pragma once
#include <compare>

#include "attn/core/format_count.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// Links a source word to its translation; words count from 0.
struct WordLink {
  Index source = 0, target = 0;
  auto operator<=>(const WordLink&) const = default;
};

/// Links that all annotators agree on, and links that at least one annotator made. Both sorted, without duplicates.
struct GoldAlignment {
  std::vector<WordLink> sure;
  std::vector<WordLink> possible;  // including the sure ones
};

/// The order of the two word numbers in a link of a gold file.
enum class LinkOrder { source_target, target_source };

/// Parses a line in the talp format: links separated by spaces, `3-4` sure and `3p4` possible, words counting from 1.
/// `where` starts the error messages.
inline GoldAlignment parse_alignment(std::string_view line, LinkOrder order, const std::string& where) {
  GoldAlignment gold;
  for_each_spaced_word(line, [&](std::string_view link) {
    const std::size_t mark = std::min(link.find_first_of("-p"), link.size() - 1);
    const auto first = parse_index(link.substr(0, mark), 1), second = parse_index(link.substr(mark + 1), 1);
    require(first && second, where, "'", link,
            "' is not a link. Write 3-4 for a sure link and 3p4 for a possible one; words count from 1.");
    const bool swapped = order == LinkOrder::target_source;
    gold.possible.push_back({(swapped ? *second : *first) - 1, (swapped ? *first : *second) - 1});
    if (link[mark] == '-') gold.sure.push_back(gold.possible.back());
  });
  for (auto* links : {&gold.sure, &gold.possible}) {
    std::sort(links->begin(), links->end());
    links->erase(std::unique(links->begin(), links->end()), links->end());
  }
  return gold;
}

/// Reads a file of alignments: line i aligns sentence pair i.
inline std::vector<GoldAlignment> read_alignments(const std::filesystem::path& path,
                                                  LinkOrder order = LinkOrder::source_target) {
  std::vector<GoldAlignment> all;
  LineReader reader(path);
  for (std::string line; reader.next(line);)
    all.push_back(parse_alignment(line, order, reader.name() + ", line " + std::to_string(reader.lines()) + ": "));
  return all;
}

}  // namespace attn
