#pragma once
#include "attn/text/utf8.hpp"

namespace attn::plain {

using unicode::ascii_lower;

/// The effect of a byte on the current word: joins it, ends it, is dropped, or depends on its neighbours.
enum class ByteRole : unsigned char { joins, ends, vanishes, period, comma, hyphen, quote, backtick, apostrophe, wide };

inline constexpr auto byte_roles = [] {
  std::array<ByteRole, 256> roles{};
  const auto set = [&](std::string_view bytes, ByteRole role) {
    for (const char byte : bytes) roles[static_cast<unsigned char>(byte)] = role;
  };
  set(" \t\n\v\f\r\x1C\x1D\x1E\x1F;@#$%&?![](){}<>", ByteRole::ends);
  set("*^_~\\/", ByteRole::vanishes);
  set(".", ByteRole::period);
  set(",:", ByteRole::comma);
  set("-", ByteRole::hyphen);
  set("\"", ByteRole::quote);
  set("`", ByteRole::backtick);
  set("'", ByteRole::apostrophe);
  for (std::size_t byte = 0x80; byte < 0x100; ++byte) roles[byte] = ByteRole::wide;
  return roles;
}();

constexpr bool is_one_of(char byte, std::string_view bytes) { return bytes.find(byte) != bytes.npos; }
constexpr bool is_typographic_quote(char32_t code) {
  return code == 0xAB || code == 0xBB || code == 0x2018 || code == 0x2019 || (code >= 0x201C && code <= 0x201E);
}

/// A line of UTF-8 with the word boundaries of NLTK 3.4: of its Treebank tokenizer and, where sentence ends affect the
/// words, of Punkt. Positions are byte offsets; positions past the end are valid and empty.
class TreebankLine {
 public:
  explicit TreebankLine(std::string_view line) : line_(line) {}

  std::size_t size() const { return line_.size(); }
  std::string_view before(std::size_t place) const { return line_.substr(0, place); }
  std::string_view from(std::size_t place) const { return line_.substr(std::min(place, size())); }
  char at(std::size_t place) const { return place < size() ? line_[place] : '\0'; }
  ByteRole role_at(std::size_t place) const { return byte_roles[static_cast<unsigned char>(at(place))]; }
  utf8::Decoded character_at(std::size_t place) const { return utf8::decode(line_, place); }

  /// Whether these lower-case letters are at the position, in any case.
  bool letters_at(std::size_t place, std::string_view letters) const {
    return std::ranges::equal(from(place).substr(0, letters.size()), letters, {}, ascii_lower);
  }

  bool word_character_at(std::size_t place) const {
    if (place >= size()) return false;
    const char32_t code = character_at(place).code;
    return code == '_' || unicode::is_letter(code) || unicode::is_number(code);
  }
  bool word_character_before(std::size_t place) const {
    if (place == 0) return false;
    for (--place; place > 0 && (line_[place] & 0xC0) == 0x80;) --place;
    return word_character_at(place);
  }

  /// Whether a word that reaches this position ends here.
  bool break_at(std::size_t place) const {
    if (place >= size()) return true;
    using enum ByteRole;
    const ByteRole role = role_at(place);
    if (role == comma) return at(place + 1) < '0' || at(place + 1) > '9';  // 1,000 and 10:30 are one word
    if (role == hyphen) return at(place + 1) == '-';
    if (role == period) return period_ends_at(place);
    if (role == apostrophe) return at(place + 1) == '\'' || single_letter_at(place + 1) || break_at(place + 1);
    if (role == wide) return is_typographic_quote(character_at(place).code);
    return role == ends || role == quote || role == backtick;
  }

  /// Whether the apostrophe starts a clitic, which is a separate word: John's, they're.
  bool clitic_at(std::size_t place) const {
    if (is_one_of(at(place + 1), "smdSMD")) return break_at(place + 2);
    for (const std::string_view ending : {"ll", "LL", "re", "RE", "ve", "VE"})
      if (from(place + 1).starts_with(ending)) return break_at(place + 3);
    return false;
  }
  bool negation_at(std::size_t place) const {
    return (from(place).starts_with("n't") || from(place).starts_with("N'T")) && break_at(place + 3);
  }
  /// Whether a one-letter word follows an apostrophe, other than 's, 't, 'm or 'd.
  bool single_letter_at(std::size_t place) const {
    return word_character_at(place) && !is_one_of(ascii_lower(at(place)), "mtsd") &&
           !word_character_at(place + character_at(place).length);
  }

  /// Whether a quotation mark here is an opening one, by the text before it.
  bool after_opening(std::size_t place) const {
    const std::string_view text = before(place);
    if (text.empty() || text == "\"" || is_one_of(text.back(), " ([{<`")) return true;
    for (const std::string_view quote : {"\u00AB", "\u2018", "\u201C", "\u201E"})
      if (text.ends_with(quote)) return true;
    return false;
  }
  /// A quotation mark right after a sentence closes it. If text follows (Why?", he said), Punkt treats the mark as the
  /// start of the next sentence. Ignores the abbreviations that Punkt learned: they count as sentence ends.
  bool starts_sentence(std::size_t place) const {
    const std::string_view text = before(place);
    if (text.empty() || !is_one_of(text.back(), ".?!") || text.ends_with("..")) return false;
    const std::size_t end = line_.find_first_not_of("\"')]}", place);
    return end != line_.npos && !is_one_of(at(end), " \t") && !from(end).starts_with("--");
  }

 private:
  /// Whether the period is separate from the word before it, which happens at the end of a sentence.
  bool period_ends_at(std::size_t place) const {
    const std::size_t next = place + 1;
    return next == size() || is_one_of(at(next), " \t?!)\";}]*:@'({[") || from(place).starts_with("...") ||
           (role_at(next) == ByteRole::wide && break_at(next));
  }

  std::string_view line_;
};

}  // namespace attn::plain
