#pragma once
#include "attn/text/utf8.hpp"

namespace attn {

namespace detail {

enum class CharacterClass { letter, number, space, other };

constexpr CharacterClass class_of(char32_t code) {
  if (unicode::is_letter(code)) return CharacterClass::letter;
  if (unicode::is_space(code)) return CharacterClass::space;
  if (unicode::is_number(code)) return CharacterClass::number;
  return CharacterClass::other;
}

/// The length of the English contraction ('s 't 're 've 'm 'll 'd) at the start of the text, or 0.
constexpr std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'m", "'d", "'re", "'ve", "'ll"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

}  // namespace detail

/// Splits text by GPT-2's pattern and calls visit(word) for each match, in order:
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Words are views into the text and cover all of it. The text must be valid UTF-8.
void for_each_word(std::string_view text, auto&& visit) {
  using enum detail::CharacterClass;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = detail::contraction(text.substr(start));
    if (end == 0) {
      auto character = utf8::decode(text, start);
      auto kind = detail::class_of(character.code);
      std::size_t last = start;  // start of the last character of the run
      end = start + character.length;

      // A single space joins the word after it.
      if (text[start] == ' ' && end < text.size()) {
        const auto next = utf8::decode(text, end);
        const auto next_kind = detail::class_of(next.code);
        if (next_kind != space) kind = next_kind, last = end, end += next.length;
      }
      while (end < text.size()) {
        character = utf8::decode(text, end);
        if (detail::class_of(character.code) != kind) break;
        last = end, end += character.length;
      }
      // White space of several characters leaves the last one to the word after it.
      if (kind == space && end < text.size() && last > start) end = last;
      end -= start;
    }
    visit(text.substr(start, end));
    start += end;
  }
}

/// Calls visit(word) for each word separated by white space of any kind. Invalid UTF-8 is not white space.
template <bool (*is_space)(char32_t) = unicode::is_space>
void for_each_spaced_word(std::string_view text, auto&& visit) {
  std::size_t at = 0, start = 0;
  for (const utf8::Character& character : utf8::Characters(text)) {
    at += character.length;
    if (!is_space(character.code)) continue;
    if (const auto word = text.substr(start, at - character.length - start); !word.empty()) visit(word);
    start = at;
  }
  if (start < text.size()) visit(text.substr(start));
}

}  // namespace attn
