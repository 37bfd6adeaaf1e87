#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attn/data/batches.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

struct TranslatorOptions {
  Index limit = 256;                 // tokens of a translation
  Index truncate = keep_all_tokens;  // tokens of a source sentence that are read
  Index batch = 64;                  // sentences decoded together
  Token never = -1;                  // a token that no translation holds, such as the unknown word; or none
  std::function<void(Index line, const std::string& what)> warn = {};  // what a line lost; lines count from 1
};

/// A line and what became of it: its tokens and the translation's, without special tokens, and the translation as one line.
struct Translation {
  std::vector<Token> source, target;
  std::string text;
};

/// decode(batch) for sentences of similar length together, results in the order of the sentences.
template <class Decode>
std::vector<std::vector<Token>> decode_by_length(const Sentences& sentences, const SpecialTokens& special_tokens,
                                                 Index batch_size, const Decode& decode) {
  std::vector<std::vector<Token>> results(static_cast<std::size_t>(sentences.size()));
  std::vector<Index> order(results.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sentences.length(a) < sentences.length(b); });
  for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(batch_size)) {
    const std::size_t last = std::min(order.size(), first + static_cast<std::size_t>(batch_size));
    Sentences batch;
    for (std::size_t i = first; i < last; ++i) special_tokens.add_source(batch, sentences[order[i]]);
    std::vector<std::vector<Token>> decoded = decode(batch);
    for (std::size_t i = first; i < last; ++i) results[static_cast<std::size_t>(order[i])] = std::move(decoded[i - first]);
  }
  return results;
}

/// Translates lines of text: exactly one translation for each line, in their order. A blank line stays blank. What is not
/// UTF-8 is read as U+FFFD, what is too long up to `truncate` tokens, and `warn` hears of it. Line ends inside a translation
/// become spaces.
template <Tokenizer SourceTokenizer, Tokenizer TargetTokenizer, class Decode>
std::vector<Translation> translate_lines(const std::vector<std::string>& lines, const SourceTokenizer& source,
                                         const TargetTokenizer& target, const TranslatorOptions& options,
                                         const Decode& decode) {
  require(options.batch > 0 && options.limit > 0 && options.truncate > 0,
          "a translator needs a batch, a limit and a truncation of at least 1; they are ", options.batch, ", ",
          options.limit, " and ", options.truncate);
  std::vector<Translation> translations(lines.size());
  Sentences sentences;  // those of lines that are not blank
  const auto warn = [&](std::size_t line, const std::string& what) {
    if (options.warn) options.warn(static_cast<Index>(line) + 1, what);
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find_first_not_of(" \t\r\n\v\f") == std::string::npos) continue;
    auto& tokens = translations[i].source;
    if (utf8::first_invalid(lines[i]) == std::string::npos) {
      tokens = source.encode(lines[i]);
    } else {
      warn(i, "is not valid UTF-8; each wrong sequence is read as U+FFFD");
      tokens = source.encode(utf8::repair(lines[i]));
    }
    if (static_cast<Index>(tokens.size()) > options.truncate) {
      warn(i, "has " + std::to_string(tokens.size()) + " tokens; the first " + std::to_string(options.truncate) +
                  " are translated");
      tokens.resize(static_cast<std::size_t>(options.truncate));
    }
    if (!tokens.empty()) sentences.push_back(tokens);
  }
  auto decoded = decode_by_length(sentences, special_tokens_of(source, target), options.batch, decode);
  std::size_t next = 0;
  for (Translation& translation : translations) {
    if (translation.source.empty()) continue;
    translation.target = std::move(decoded[next++]);
    translation.text = target.decode(translation.target);
    std::replace_if(
        translation.text.begin(), translation.text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  }
  return translations;
}

}  // namespace attn
