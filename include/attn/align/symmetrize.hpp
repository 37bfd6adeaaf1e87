#pragma once
#include <algorithm>
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

/// In the order of the target's words, then of the source's: that in which Moses' symal visits links.
struct TargetFirst {
  bool operator()(const WordLink& a, const WordLink& b) const {
    return std::pair(a.target, a.source) < std::pair(b.target, b.source);
  }
};
using LinkSet = std::set<WordLink, TargetFirst>;

/// Links that grow: which words have one.
class GrowingAlignment {
 public:
  void add(const WordLink& link) {
    links_.insert(link);
    sources_.insert(link.source);
    targets_.insert(link.target);
  }
  bool has_source(Index word) const { return sources_.contains(word); }
  bool has_target(Index word) const { return targets_.contains(word); }
  const LinkSet& links() const { return links_; }

 private:
  LinkSet links_;  // iterators stay valid while links are added
  std::set<Index> sources_, targets_;
};

/// Adds, until nothing changes, neighbours of links that `either` has and one of whose words has no link yet. Links are
/// visited in order, new ones too.
inline void grow_diagonally(GrowingAlignment& grown, const LinkSet& either) {
  constexpr WordLink steps[] = {{0, -1}, {-1, 0}, {0, 1}, {1, 0}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
  for (bool changed = true; changed;) {
    changed = false;
    for (const WordLink& link : grown.links())
      for (const WordLink& step : steps) {
        const WordLink near{link.source + step.source, link.target + step.target};
        if ((grown.has_source(near.source) && grown.has_target(near.target)) || !either.contains(near)) continue;
        grown.add(near);
        changed = true;
      }
  }
}

}  // namespace detail

/// Joins the alignment of source to target, whose target words have one link at most, with that of target to source; both
/// name the source's word first. The result is in order, each link once.
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
        const bool source = grown.has_source(link.source), target = grown.has_target(link.target);
        if (how == grow_diag_final_and ? !source && !target : !source || !target) grown.add(link);
      }
  std::vector<WordLink> result(grown.links().begin(), grown.links().end());
  std::ranges::sort(result);
  return result;
}

/// The same links seen from the other side.
inline std::vector<WordLink> transposed(std::vector<WordLink> links) {
  for (WordLink& link : links) std::swap(link.source, link.target);
  std::ranges::sort(links);
  return links;
}

}  // namespace attn
