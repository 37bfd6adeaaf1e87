#pragma once
#include <algorithm>
#include <atomic>
#include <concepts>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/parallel_for.hpp"
#include "attn/data/batches.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/decode/search_options.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

struct TranslatorOptions {
  Index limit = 256;                 // tokens of a translation
  Index truncate = keep_all_tokens;  // tokens of a source sentence that are read
  Index batch = 64;                  // sentences decoded together
  Token never = -1;                  // a token that no translation holds, such as the unknown word; or none
  std::function<void(Index line, const std::string& what)> warn = {};  // what a line lost; lines count from 1
  /// Beam search or sampling instead of greedy decoding. Its special tokens, its limit and `never` are the translator's; its
  /// prefixes, if any, are those of the lines.
  std::optional<SearchOptions> search = {};
  /// The tokens that translations of some source tokens can be made of, such as a Shortlist (align/shortlist.hpp); none: all.
  /// It is asked once a batch, so a translation may depend on what else is in its batch.
  std::function<std::vector<Token>(std::span<const Token> source)> shortlist = {};
  Index lines_before = 0;  // of the same text, translated earlier: sampling goes on from there
};

/// One of the translations of a line, as one line.
struct TranslatedHypothesis : Hypothesis {
  std::string text;
};

/// A line and what became of it: its tokens and the best translation's, without special tokens, and that as one line.
struct Translation {
  std::vector<Token> source, target;
  std::string text;
  std::vector<TranslatedHypothesis> n_best;  // the best first; none of a blank line

  /// Whether the translation ended before the limit.
  bool complete() const { return n_best.empty() || n_best[0].complete; }
};

/// Greedy translations as hypotheses. Their probabilities were not computed, and are NaN.
inline std::vector<std::vector<Hypothesis>> as_hypotheses(std::vector<std::vector<Token>> translations, Index limit) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::vector<Hypothesis>> all;
  for (auto& tokens : translations) {
    const bool complete = static_cast<Index>(tokens.size()) < limit;
    all.push_back({{std::move(tokens), unknown, unknown, {}, complete}});
  }
  return all;
}

/// How to search for translations of some lines of a text.
template <HasSpecialTokens TargetTokenizer>
SearchOptions search_options_of(const TranslatorOptions& options, const TargetTokenizer& target,
                                std::span<const Index> lines) {
  SearchOptions search = options.search.value_or(SearchOptions{.beam = 1});
  search.begin = target.begin(), search.end = target.end();
  search.limit = options.limit;
  if (options.never >= 0) search.never.push_back(options.never);
  const auto prefixes = std::move(search.prefixes);
  search.prefixes.clear(), search.streams.clear();
  for (const Index line : lines) {
    search.streams.push_back(static_cast<std::uint64_t>(options.lines_before + line));
    if (!prefixes.empty()) search.prefixes.push_back(prefixes[static_cast<std::size_t>(line)]);
  }
  return search;
}

/// What translations of a batch are made of, rising: the shortlist, the end, and what they have to begin with; or what the search is
/// told to choose among. None: all.
template <HasSpecialTokens TargetTokenizer>
std::vector<Token> tokens_among(const TranslatorOptions& options, const TargetTokenizer& target, const Sentences& batch,
                                std::span<const std::vector<Token>> prefixes = {}) {
  if (!options.shortlist) return options.search ? options.search->among : std::vector<Token>{};
  require(!options.search || options.search->among.empty(),
          "a translator takes a shortlist, or SearchOptions::among, but not both");
  std::vector<Token> among = options.shortlist(batch.tokens);
  among.push_back(target.end());
  for (const auto& prefix : prefixes) among.insert(among.end(), prefix.begin(), prefix.end());
  std::ranges::sort(among);
  among.erase(std::unique(among.begin(), among.end()), among.end());
  return among;
}

/// decode(batch, places, worker) for sentences of similar length together, given which they are; results in the order of the
/// sentences. With several workers as many batches are decoded at a time, by workers 0, 1, ..., where there are enough of them;
/// else worker -1 decodes one after the other.
template <class Decode>
std::vector<std::vector<Hypothesis>> decode_by_length(const Sentences& sentences, const SpecialTokens& special_tokens,
                                                      Index batch_size, Index workers, const Decode& decode) {
  std::vector<std::vector<Hypothesis>> results(static_cast<std::size_t>(sentences.size()));
  std::vector<Index> order(results.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sentences.length(a) < sentences.length(b); });
  const auto decode_batch = [&](Index number, Index worker) {
    const auto first = static_cast<std::size_t>(number * batch_size);
    const std::size_t last = std::min(order.size(), first + static_cast<std::size_t>(batch_size));
    Sentences batch;
    for (std::size_t i = first; i < last; ++i) special_tokens.add_source(batch, sentences[order[i]]);
    std::vector<std::vector<Hypothesis>> decoded =
        decode(batch, std::span<const Index>(order).subspan(first, last - first), worker);
    for (std::size_t i = first; i < last; ++i) results[static_cast<std::size_t>(order[i])] = std::move(decoded[i - first]);
  };
  const Index batches = (std::ssize(order) + batch_size - 1) / batch_size;
  if (workers < 2 || batches < 2 * workers) {
    for (Index number = 0; number < batches; ++number) decode_batch(number, -1);
    return results;
  }
  std::atomic<Index> left = batches;  // long sentences first: the last to be done are short
  parallel_for(workers, workers, [&](Index worker) {
    for (Index number = --left; number >= 0; number = --left) decode_batch(number, worker);
  });
  return results;
}

/// Translates lines of text: exactly one translation for each line, in their order. A blank line stays blank. What is not
/// UTF-8 is read as U+FFFD, what is too long up to `truncate` tokens, and `warn` hears of it. Line ends inside a translation
/// become spaces. decode(batch, lines) gives hypotheses of sentences, which stand in those lines, counted from 0; or
/// decode(batch, lines, worker), which several workers call at the same time (decode_by_length).
template <Tokenizer SourceTokenizer, Tokenizer TargetTokenizer, class Decode>
std::vector<Translation> translate_lines(const std::vector<std::string>& lines, const SourceTokenizer& source,
                                         const TargetTokenizer& target, const TranslatorOptions& options,
                                         const Decode& decode, Index workers = 1) {
  require(options.batch > 0 && options.limit > 0 && options.truncate > 0,
          "a translator needs a batch, a limit and a truncation of at least 1; they are ", options.batch, ", ",
          options.limit, " and ", options.truncate);
  if (options.search)
    require(options.search->prefixes.empty() || options.search->prefixes.size() == lines.size(),
            "translate: ", options.search->prefixes.size(), " prefixes for ", lines.size(),
            " lines; give one each, or none");
  std::vector<Translation> translations(lines.size());
  Sentences sentences;          // those of lines that are not blank
  std::vector<Index> its_line;  // of each of them
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
    if (tokens.empty()) continue;
    sentences.push_back(tokens);
    its_line.push_back(static_cast<Index>(i));
  }
  auto decoded =
      decode_by_length(sentences, special_tokens_of(source, target), options.batch, workers,
                       [&](const Sentences& batch, std::span<const Index> places, [[maybe_unused]] Index worker) {
                         std::vector<Index> batch_lines;
                         for (const Index place : places) batch_lines.push_back(its_line[static_cast<std::size_t>(place)]);
                         if constexpr (std::invocable<const Decode&, const Sentences&, std::span<const Index>, Index>)
                           return decode(batch, std::span<const Index>(batch_lines), worker);
                         else
                           return decode(batch, std::span<const Index>(batch_lines));
                       });
  std::size_t next = 0;
  for (Translation& translation : translations) {
    if (translation.source.empty()) continue;
    for (Hypothesis& hypothesis : decoded[next++]) {
      std::string text = target.decode(hypothesis.tokens);
      std::replace_if(
          text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
      translation.n_best.push_back({std::move(hypothesis), std::move(text)});
    }
    translation.target = translation.n_best[0].tokens;
    translation.text = translation.n_best[0].text;
  }
  return translations;
}

}  // namespace attn
