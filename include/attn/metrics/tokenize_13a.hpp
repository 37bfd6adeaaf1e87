#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/word_split.hpp"

namespace attn {

namespace detail {

/// White space in Python's str.split() and str.rstrip(): Unicode's, and the four ASCII separators.
constexpr bool is_python_space(char32_t code) { return unicode::is_space(code) || (code >= 0x1C && code <= 0x1F); }

/// The words between runs of white space, as in Python's str.split(). Invalid UTF-8 is not white space.
inline std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for_each_spaced_word<is_python_space>(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

/// The text without trailing white space, as in Python's str.rstrip().
inline std::string_view without_trailing_space(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded character = utf8::decode(text, at);
    at += character.length;
    if (!is_python_space(character.code)) end = at;
  }
  return text.substr(0, end);
}

inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(from, begin)) != std::string::npos; begin = at + from.size())
    result.append(text, begin, at - begin).append(to);
  text = result.append(text, begin);
}

/// Rewrites every pair of adjacent bytes that matches, left to right and without overlap, like a regular expression of two
/// characters. Byte matching is safe: all classes are ASCII, or everything except ASCII digits.
std::string rewrite_pairs(std::string_view text, auto first, auto second, std::string_view before, std::string_view between,
                          std::string_view after) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 < text.size() && first(text[at]) && second(text[at + 1])) {
      result.append(before).append(1, text[at]).append(between).append(1, text[at + 1]).append(after);
      ++at;
    } else {
      result += text[at];
    }
  }
  return result;
}

}  // namespace detail

/// The words that BLEU counts: the "13a" tokenizer of sacreBLEU, from NIST's mteval-v13a. Splits off punctuation, except
/// periods and commas inside numbers, dashes not after a digit, and non-ASCII punctuation.
inline std::vector<std::string> tokenize_13a(std::string_view sentence) {
  using namespace detail;
  std::string line(without_trailing_space(sentence));
  constexpr std::string_view replaced[][2] = {
      {"<skipped>", ""}, {"-\n", ""},    {"\n", " "},
      {"&quot;", "\""},  {"&amp;", "&"},  // before the next two, to turn &amp;lt; into <
      {"&lt;", "<"},     {"&gt;", ">"}};
  for (const auto& [from, to] : replaced) replace_all(line, from, to);

  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_other = [&](char c) { return !is_digit(c); };
  const auto is_stop = [](char c) { return c == '.' || c == ','; };
  const auto is_dash = [](char c) { return c == '-'; };
  const auto is_symbol = [](char c) {
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
  };

  std::string spaced = " ";
  for (const char c : line) is_symbol(c) ? spaced.append({' ', c, ' '}) : spaced.append(1, c);
  spaced += ' ';
  spaced = rewrite_pairs(spaced, is_other, is_stop, "", " ", " ");
  spaced = rewrite_pairs(spaced, is_stop, is_other, " ", " ", "");
  spaced = rewrite_pairs(spaced, is_digit, is_dash, "", " ", " ");
  return split_words(spaced);
}

}  // namespace attn
