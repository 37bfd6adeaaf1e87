#pragma once
#include <unordered_set>

#include "attn/core/types.hpp"
#include "attn/text/content_hash.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

enum class InvalidUtf8 { refuse, drop, repair };  // repair: replace each invalid sequence by U+FFFD
enum class BlankSide { drop, keep };
enum class Duplicates { keep, drop };  // drop: keep the first of equal pairs

/// What to do with invalid, blank and duplicate pairs.
struct PairRules {
  InvalidUtf8 invalid = InvalidUtf8::drop;
  BlankSide blank = BlankSide::drop;
  Duplicates duplicates = Duplicates::keep;
};

/// The number of pairs that each rule matched.
struct RuleCounts {
  Index read = 0, kept = 0;
  Index invalid = 0, blank = 0, duplicates = 0;
  bool operator==(const RuleCounts&) const = default;
};

/// Whether a line contains only white space, of any kind. The line must be valid UTF-8.
inline bool is_blank(std::string_view line) {
  for (const utf8::Character& character : utf8::Characters(line))
    if (!unicode::is_space(character.code)) return false;
  return true;
}

/// Applies the rules to pairs one by one. To drop duplicates, it stores a 64-bit hash of every pair it keeps.
class PairFilter {
 public:
  explicit PairFilter(PairRules rules) : rules_(rules) {}

  /// Returns whether to keep the pair, and may repair it. `where()` returns its location for error messages.
  bool keep(std::string& source, std::string& target, const auto& where) {
    ++counts_.read;
    bool valid = true;
    for (std::string* side : {&source, &target}) {
      const std::size_t bad = utf8::first_invalid(*side);
      if (bad == std::string::npos) continue;
      require(rules_.invalid != InvalidUtf8::refuse, where(), ": byte ", bad + 1, side == &source ? "" : " of the target",
              " is not valid UTF-8. Convert the file to UTF-8 (iconv), or drop or repair invalid pairs.");
      valid = false;
      if (rules_.invalid == InvalidUtf8::repair) *side = utf8::repair(std::move(*side));
    }
    if (!valid) ++counts_.invalid;
    if (!valid && rules_.invalid == InvalidUtf8::drop) return false;
    if (is_blank(source) || is_blank(target)) {
      ++counts_.blank;
      if (rules_.blank == BlankSide::drop) return false;
    }
    const bool compares = rules_.duplicates == Duplicates::drop;
    if (compares && !seen_.insert(ContentHash().add(source).add(target).value()).second) {
      ++counts_.duplicates;
      return false;
    }
    ++counts_.kept;
    return true;
  }

  const RuleCounts& counts() const { return counts_; }

 private:
  PairRules rules_;
  RuleCounts counts_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace attn
