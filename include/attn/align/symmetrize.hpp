#pragma once
#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/data/word_alignments.hpp"

namespace attn {

/// How two alignments of a sentence pair, one of each direction, become one (Och and Ney 2003; Koehn et al. 2003).
enum class Symmetrization {
  intersection,         // links of both
  union_of_both,        // links of either
  grow_diag,            // links of both, and neighbours of these that either has, where one of the words has none yet
  grow_diag_final,      // then links of either where one of the words has none yet
  grow_diag_final_and,  // then links of either where neither word has one yet
};

/// The name of an option: intersection, union, grow-diag, grow-diag-final or grow-diag-final-and.
inline Symmetrization symmetrization(std::string_view name) {
  using enum Symmetrization;
  if (name == "intersection") return intersection;
  if (name == "union") return union_of_both;
  if (name == "grow-diag") return grow_diag;
  if (name == "grow-diag-final") return grow_diag_final;
  if (name == "grow-diag-final-and") return grow_diag_final_and;
  fail("there is no symmetrisation '", name,
       "'; choose among intersection, union, grow-diag, grow-diag-final and grow-diag-final-and");
}

namespace detail {

/// Links that grow: which words have one.
class GrowingAlignment {
 public:
  explicit GrowingAlignment(const std::vector<WordLink>& links) {
    for (const WordLink& link : links) add(link);
  }
  void add(const WordLink& link) {
    links_.insert(link);
    sources_.insert(link.source);
    targets_.insert(link.target);
  }
  bool has_source(Index word) const { return sources_.contains(word); }
  bool has_target(Index word) const { return targets_.contains(word); }
  auto begin() const { return links_.begin(); }
  auto end() const { return links_.end(); }

 private:
  std::set<WordLink> links_;  // iterators stay valid while links are added
  std::set<Index> sources_, targets_;
};

/// Adds, until nothing changes, neighbours of links that `either` has and one of whose words has no link yet. Links are
/// visited in order, new ones too.
inline void grow_diagonally(GrowingAlignment& grown, const std::vector<WordLink>& either) {
  constexpr std::pair<Index, Index> neighbours[] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
  for (bool changed = true; changed;) {
    changed = false;
    for (const WordLink& link : grown)
      for (const auto& [down, right] : neighbours) {
        const WordLink near{link.source + down, link.target + right};
        if (grown.has_source(near.source) && grown.has_target(near.target)) continue;
        if (!std::ranges::binary_search(either, near)) continue;
        grown.add(near);
        changed = true;
      }
  }
}

}  // namespace detail

/// Joins the alignment of source to target with that of target to source; both name the source's word first. The result is
/// in order, each link once.
inline std::vector<WordLink> symmetrize(std::vector<WordLink> forward, std::vector<WordLink> backward, Symmetrization how) {
  using enum Symmetrization;
  for (auto* links : {&forward, &backward}) {
    std::ranges::sort(*links);
    links->erase(std::unique(links->begin(), links->end()), links->end());
  }
  std::vector<WordLink> both, either;
  std::ranges::set_intersection(forward, backward, std::back_inserter(both));
  std::ranges::set_union(forward, backward, std::back_inserter(either));
  if (how == intersection) return both;
  if (how == union_of_both) return either;
  detail::GrowingAlignment grown(both);
  detail::grow_diagonally(grown, either);
  if (how != grow_diag)
    for (const auto* links : {&forward, &backward})
      for (const WordLink& link : *links) {
        const bool source = grown.has_source(link.source), target = grown.has_target(link.target);
        if (how == grow_diag_final_and ? !source && !target : !source || !target) grown.add(link);
      }
  return {grown.begin(), grown.end()};
}

/// The same links seen from the other side.
inline std::vector<WordLink> transposed(std::vector<WordLink> links) {
  for (WordLink& link : links) std::swap(link.source, link.target);
  std::ranges::sort(links);
  return links;
}

}  // namespace attn
