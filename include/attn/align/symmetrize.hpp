#pragma once
#include <iterator>
#include <set>

#include "attn/data/word_alignments.hpp"

namespace attn {

/// How to combine the alignments of both directions (Och and Ney 2003; Koehn et al. 2003).
enum class Symmetrization {
  intersection,         // links in both
  union_of_both,        // links in either
  grow_diag,            // the intersection, plus adjacent links of the union that cover a new word
  grow_diag_final,      // also links in either that cover a new word
  grow_diag_final_and,  // also links in either if both words are unaligned
};

/// Parses an option, in the order of the enumerators: intersection, union, grow-diag, grow-diag-final or grow-diag-final-and.
inline Symmetrization symmetrization(std::string_view name) {
  constexpr std::string_view names[] = {"intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"};
  const auto found = std::ranges::find(names, name);
  require(found != std::end(names), "unknown symmetrisation '", name,
          "'. Use intersection, union, grow-diag, grow-diag-final or grow-diag-final-and.");
  return static_cast<Symmetrization>(found - names);
}

namespace detail {

/// Target-major order, in which Moses' symal visits links.
struct TargetFirst {
  bool operator()(const WordLink& a, const WordLink& b) const {
    return std::pair(a.target, a.source) < std::pair(b.target, b.source);
  }
};
using LinkSet = std::set<WordLink, TargetFirst>;

/// A growing set of links, with the words they cover.
struct GrowingAlignment {
  LinkSet links;  // std::set: iterators stay valid while links are added
  std::set<Index> sources, targets;

  void add(const WordLink& link) {
    links.insert(link);
    sources.insert(link.source);
    targets.insert(link.target);
  }
};

/// Repeats until nothing changes: adds links from `either` that are adjacent to a link and cover a new word. Visits links
/// in order, including new ones.
inline void grow_diagonally(GrowingAlignment& grown, const LinkSet& either) {
  constexpr WordLink steps[] = {{0, -1}, {-1, 0}, {0, 1}, {1, 0}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
  for (bool changed = true; changed;) {
    changed = false;
    for (const WordLink& link : grown.links)
      for (const WordLink& step : steps) {
        const WordLink near{link.source + step.source, link.target + step.target};
        if ((grown.sources.contains(near.source) && grown.targets.contains(near.target)) || !either.contains(near))
          continue;
        grown.add(near);
        changed = true;
      }
  }
}

}  // namespace detail

/// Combines the source-to-target alignment, which has at most one link per target word, with the target-to-source
/// alignment. Links of both name the source word first. The result is sorted and unique.
inline std::vector<WordLink> symmetrize(const std::vector<WordLink>& forward, const std::vector<WordLink>& backward,
                                        Symmetrization how) {
  using enum Symmetrization;
  const detail::LinkSet one(forward.begin(), forward.end()), other(backward.begin(), backward.end());
  detail::LinkSet either = one;
  either.insert(other.begin(), other.end());
  detail::GrowingAlignment grown;
  for (const WordLink& link : how == union_of_both ? either : one)
    if (how == union_of_both || other.contains(link)) grown.add(link);
  if (how != intersection && how != union_of_both) detail::grow_diagonally(grown, either);
  if (how == grow_diag_final || how == grow_diag_final_and)
    for (const detail::LinkSet* links : {&one, &other})
      for (const WordLink& link : *links) {
        const bool source = grown.sources.contains(link.source), target = grown.targets.contains(link.target);
        if (how == grow_diag_final_and ? !source && !target : !source || !target) grown.add(link);
      }
  std::vector<WordLink> result(grown.links.begin(), grown.links.end());
  std::ranges::sort(result);
  return result;
}

/// Swaps source and target of each link.
inline std::vector<WordLink> transposed(std::vector<WordLink> links) {
  for (WordLink& link : links) std::swap(link.source, link.target);
  std::ranges::sort(links);
  return links;
}

}  // namespace attn
