#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"
#include "attn/text/content_hash.hpp"
#include "attn/text/unicode_classes.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

enum class InvalidUtf8 { refuse, drop, repair };  // repair: U+FFFD stands in for each wrong sequence
enum class BlankSide { drop, keep };
enum class Duplicates { keep, drop };  // drop: of equal pairs the first is kept

/// What becomes of pairs that are not as they should be.
struct PairRules {
  InvalidUtf8 invalid = InvalidUtf8::drop;
  BlankSide blank = BlankSide::drop;
  Duplicates duplicates = Duplicates::keep;
};

/// How many pairs each rule met.
struct RuleCounts {
  Index read = 0, kept = 0;
  Index invalid = 0, blank = 0, duplicates = 0;
  bool operator==(const RuleCounts&) const = default;
};

/// Whether a line is nothing but white space, of any kind. It must be valid UTF-8.
inline bool is_blank(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const utf8::Decoded character = utf8::decode(line, at);
    if (!unicode::is_space(character.code)) return false;
    at += character.length;
  }
  return true;
}

/// Applies the rules to pairs, one after another. Where duplicates are dropped it remembers 64 bits of every pair it keeps.
class PairFilter {
 public:
  explicit PairFilter(PairRules rules) : rules_(rules) {}

  /// Whether the pair is kept; may repair it. `where()` says where it stands, for the sentence that refuses it.
  template <class Where>
  bool keep(std::string& source, std::string& target, const Where& where) {
    ++counts_.read;
    bool valid = true;
    for (std::string* side : {&source, &target}) {
      const std::size_t bad = utf8::first_invalid(*side);
      if (bad == std::string::npos) continue;
      require(
          rules_.invalid != InvalidUtf8::refuse, where(), ": byte ", bad + 1, side == &source ? "" : " of the target",
          " is not valid UTF-8; convert the file to UTF-8 (iconv does), or choose that such pairs are dropped or repaired");
      valid = false;
      if (rules_.invalid == InvalidUtf8::repair) *side = utf8::repair(std::move(*side));
    }
    if (!valid) ++counts_.invalid;
    if (!valid && rules_.invalid == InvalidUtf8::drop) return false;
    if (is_blank(source) || is_blank(target)) {
      ++counts_.blank;
      if (rules_.blank == BlankSide::drop) return false;
    }
    if (rules_.duplicates == Duplicates::drop) {
      ContentHash hash;
      hash.add(source);
      hash.add(target);
      if (!seen_.insert(hash.value()).second) {
        ++counts_.duplicates;
        return false;
      }
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
