#pragma once
#include "attn/data/batches.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/decode/search.hpp"
#include "attn/text/tokenizer.hpp"

namespace attn {

/// Translates batches of sentences, given with special tokens. Hides the type of a model or an ensemble from the
/// translator. One virtual call runs a whole search.
class SearchEngine {
 public:
  virtual ~SearchEngine() = default;

  /// The hypotheses of each sentence (decode/search.hpp). Workers 0, 1, ... may search concurrently; worker -1 searches
  /// alone and uses the whole device.
  virtual Hypotheses search(const Sentences& source, const SearchOptions& options, Index worker,
                            std::vector<SearchTree>* trees) = 0;

  /// Starts stepwise decoding, for ensembles. Each worker has at most one at a time.
  virtual std::unique_ptr<DecodingSteps> start(const Sentences& source, const SearchOptions& options, Index worker) = 0;

  /// Workers to use for this number of batches; 1 means that worker -1 takes the batches in turn.
  virtual Index workers(Index /* batches */) { return 1; }
  /// Sentences per batch, given the number of hypotheses per sentence.
  virtual Index batch_size(Index /* hypotheses */) const { return 64; }
  /// Host threads for encoding and decoding text.
  virtual Index text_threads() const { return 1; }

  std::mutex mutex;  // held during a search, so that threads take turns
};

/// A model on its device. Further worker devices are created on first use; Device chooses their number.
template <class Device, class Model>
class ModelEngine final : public SearchEngine {
  static_assert(check_decoder_model<Model>());

 public:
  ModelEngine(Device& device, const Model& model) : device_(device), model_(model) {}

  Hypotheses search(const Sentences& source, const SearchOptions& options, Index worker,
                    std::vector<SearchTree>* trees) override {
    return beam_search(device(worker), model_, source, options, trees);
  }
  std::unique_ptr<DecodingSteps> start(const Sentences& source, const SearchOptions& options, Index worker) override {
    check_options(options, source.size());
    return std::make_unique<ModelSteps<Device, Model>>(device(worker), model_, source, options.limit, options.rows(),
                                                       options.allowed_tokens);
  }
  Index workers(Index batches) override {
    const Index count = device_.workers(batches);
    while (count > 1 && std::ssize(workers_) < count) workers_.push_back(Device::like(device_));
    return count;
  }
  Index batch_size(Index hypotheses) const override { return device_.decoding_batch(hypotheses); }
  Index text_threads() const override { return device_.text_threads(); }

 private:
  Device& device(Index worker) { return worker < 0 ? device_ : *workers_[static_cast<std::size_t>(worker)]; }

  Device& device_;
  const Model& model_;
  std::vector<std::unique_ptr<Device>> workers_;
};

struct TranslatorOptions {
  Index limit = 256;                 // maximum tokens of a translation
  Index truncate = keep_all_tokens;  // maximum tokens read of a source sentence
  Index batch = 0;                   // sentences per batch; 0 lets the device choose
  std::vector<Token> never = {};     // tokens that no translation contains, such as the unknown token
  std::function<void(Index line, const std::string& what)> warn = {};  // reports repaired and truncated lines, from 1
  /// Beam search or sampling instead of greedy decoding. The translator sets its special tokens, limit, `never` and
  /// streams. Its prefixes, if any, are one per line.
  std::optional<SearchOptions> search = {};
  /// Returns the target tokens allowed for the given source tokens, such as a Shortlist (align/shortlist.hpp); none allows
  /// all. Called once per batch, so a translation may depend on the other sentences of its batch.
  std::function<std::vector<Token>(std::span<const Token> source)> shortlist = {};
  Index lines_before = 0;  // lines of the text already translated; sampling continues their random streams
};

/// One translation of a line, with its text.
struct TranslatedHypothesis : Hypothesis {
  std::string text;
};

/// A line's source tokens and its best translation, as tokens and as one line of text. Tokens exclude special tokens.
struct Translation {
  std::vector<Token> source, target;
  std::string text;
  std::vector<TranslatedHypothesis> n_best;  // best first; empty for a blank line

  /// Whether the translation ended before the limit.
  bool complete() const { return n_best.empty() || n_best[0].complete; }
};

/// Builds the search options for some lines of a text, whose sources are `batch`. With a shortlist, translations may contain
/// its tokens, the end token and those of the prefixes.
SearchOptions search_options_of(const TranslatorOptions& options, const HasSpecialTokens auto& target,
                                std::span<const Index> lines, const Sentences& batch) {
  SearchOptions search = options.search.value_or(SearchOptions{.beam = 1, .scores = false});
  search.begin = target.begin(), search.end = target.end();
  search.limit = options.limit;
  for (const Token token : options.never)  // once each: greedy decoding accepts one
    if (std::ranges::find(search.never, token) == search.never.end()) search.never.push_back(token);
  const auto prefixes = std::move(search.prefixes);
  search.prefixes.clear(), search.streams.clear();
  for (const Index line : lines) {
    search.streams.push_back(static_cast<std::uint64_t>(options.lines_before + line));
    if (!prefixes.empty()) search.prefixes.push_back(prefixes[static_cast<std::size_t>(line)]);
  }
  if (!options.shortlist) return search;
  require(search.allowed_tokens.empty(),
          "TranslatorOptions::shortlist conflicts with SearchOptions::allowed_tokens. Set one of them.");
  std::vector<Token>& tokens = search.allowed_tokens;
  tokens = options.shortlist(batch.tokens);
  tokens.push_back(target.end());
  for (const auto& prefix : search.prefixes) tokens.insert(tokens.end(), prefix.begin(), prefix.end());
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return search;
}

/// Groups sentences of similar length, longest first: at most `sentences` per batch, and 64 tokens times that number.
inline std::vector<std::vector<Index>> batches_by_length(const Sentences& all, Index sentences) {
  std::vector<Index> order(static_cast<std::size_t>(all.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return all.length(a) > all.length(b); });
  std::vector<std::vector<Index>> batches;
  Index tokens = 0;
  for (const Index i : order) {
    tokens += all.length(i);
    if (batches.empty() || std::ssize(batches.back()) == sentences || tokens > 64 * sentences)
      batches.emplace_back(), tokens = all.length(i);
    batches.back().push_back(i);
  }
  return batches;
}

/// Calls search(places, worker) for each batch on the engine's workers. Halves a batch that runs out of memory.
void for_each_batch(SearchEngine& engine, const std::vector<std::vector<Index>>& batches, const auto& search) {
  const auto halve = [&](const auto& self, std::span<const Index> places, Index worker) -> void {
    try {
      return search(places, worker);
    } catch (const OutOfMemory&) {
      if (places.size() == 1) throw;
    }
    const std::size_t half = places.size() / 2;
    self(self, places.first(half), worker);
    self(self, places.subspan(half), worker);
  };
  const std::lock_guard lock(engine.mutex);
  const Index workers = std::max<Index>(engine.workers(std::ssize(batches)), 1);
  std::atomic<std::size_t> next = 0;
  parallel_for(workers, workers, [&](Index worker) {
    for (std::size_t i = next++; i < batches.size(); i = next++) halve(halve, batches[i], workers > 1 ? worker : -1);
  });
}

/// Translates each line to exactly one line, in order. A blank line stays blank. Replaces invalid UTF-8 by U+FFFD and
/// truncates long lines to `truncate` tokens; both are reported to `warn`. Line ends inside a translation become spaces.
/// Thread-safe: while one thread searches, others encode and decode text.
std::vector<Translation> translate_lines(const std::vector<std::string>& lines, const Tokenizer auto& source,
                                         const Tokenizer auto& target, const TranslatorOptions& options,
                                         SearchEngine& engine) {
  require(options.batch >= 0 && options.limit >= 0 && options.truncate > 0, "translate: truncate is ", options.truncate,
          ", limit ", options.limit, " and batch ", options.batch, ". Use truncate >= 1, limit >= 0 and batch >= 0.");
  if (options.search)
    require(options.search->prefixes.empty() || options.search->prefixes.size() == lines.size(),
            "translate: ", options.search->prefixes.size(), " prefixes for ", lines.size(),
            " lines. Pass one per line, or none.");
  std::vector<Translation> translations(lines.size());
  std::vector<std::string> warnings(lines.size());
  constexpr std::size_t kLines = 256;  // per task
  const auto for_each_line = [&](const auto& work) {
    parallel_for(static_cast<Index>((lines.size() + kLines - 1) / kLines), engine.text_threads(), [&](Index task) {
      const std::size_t first = static_cast<std::size_t>(task) * kLines;
      for (std::size_t i = first; i < std::min(lines.size(), first + kLines); ++i) work(i);
    });
  };
  for_each_line([&](std::size_t i) {
    if (lines[i].find_first_not_of(" \t\r\n\v\f") == std::string::npos) return;
    const bool valid = utf8::first_invalid(lines[i]) == std::string::npos;
    auto& tokens = translations[i].source;
    tokens = source.encode(valid ? lines[i] : utf8::repair(lines[i]));
    if (!valid) warnings[i] = "is not valid UTF-8; each invalid sequence becomes U+FFFD";
    if (static_cast<Index>(tokens.size()) <= options.truncate) return;
    warnings[i] += std::string(valid ? "" : ", and ") + "has " + std::to_string(tokens.size()) +
                   " tokens; only the first " + std::to_string(options.truncate) + " are translated";
    tokens.resize(static_cast<std::size_t>(options.truncate));
  });
  Sentences sentences;          // of the lines that are not blank
  std::vector<Index> its_line;  // line of each sentence
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (options.warn && !warnings[i].empty()) options.warn(static_cast<Index>(i) + 1, warnings[i]);
    if (translations[i].source.empty()) continue;
    sentences.push_back(translations[i].source);
    its_line.push_back(static_cast<Index>(i));
  }
  const SpecialTokens special_tokens = special_tokens_of(source, target);
  const Index hypotheses = options.search ? options.search->rows() : 1;
  const Index most = options.batch > 0 ? options.batch : std::max<Index>(1, engine.batch_size(hypotheses));
  for_each_batch(engine, batches_by_length(sentences, most), [&](std::span<const Index> places, Index worker) {
    Sentences batch;
    std::vector<Index> batch_lines;
    for (const Index place : places) {
      special_tokens.add_source(batch, sentences[place]);
      batch_lines.push_back(its_line[static_cast<std::size_t>(place)]);
    }
    auto found = engine.search(batch, search_options_of(options, target, batch_lines, batch), worker, nullptr);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (Hypothesis& hypothesis : found[i])
        translations[static_cast<std::size_t>(batch_lines[i])].n_best.push_back({std::move(hypothesis), {}});
  });
  for_each_line([&](std::size_t i) {
    Translation& translation = translations[i];
    for (TranslatedHypothesis& hypothesis : translation.n_best) {
      hypothesis.text = target.decode(hypothesis.tokens);
      std::ranges::replace_if(
          hypothesis.text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    }
    if (translation.n_best.empty()) return;
    translation.target = translation.n_best[0].tokens;
    translation.text = translation.n_best[0].text;
  });
  return translations;
}

}  // namespace attn
