#include "attn/decode/translate_lines.hpp"

#include <doctest/doctest.h>

#include <mutex>

#include "attn/text/word_vocabulary.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "\n"});

/// Translates a sentence into itself, backwards, without its end; notes what it was given.
struct Backwards : SearchEngine {
  std::vector<std::vector<Hypothesis>> search(const Sentences& batch, const SearchOptions& options, Index worker,
                                              std::vector<SearchTree>*) override {
    const std::lock_guard lock(notes);
    by_workers += worker >= 0 ? 1 : 0;
    if (batch.size() > fits) fail<OutOfMemory>("too many sentences");
    std::vector<std::vector<Hypothesis>> results;
    lines.emplace_back(options.streams.begin(), options.streams.end());
    lengths.emplace_back();
    for (Index i = 0; i < batch.size(); ++i) {
      const auto sentence = batch[i];
      lengths.back().push_back(sentence.size());
      results.push_back({{.tokens = {sentence.rbegin() + 1, sentence.rend()}}});
    }
    return given.empty() ? results : given;
  }
  std::unique_ptr<DecodingSteps> start(const Sentences&, const SearchOptions&, Index) override { return nullptr; }
  Index workers(Index batches) override { return batches < 6 ? 1 : count; }
  Index text_threads() const override { return count; }

  Index count = 1, fits = 1000;
  std::vector<std::vector<Hypothesis>> given;  // instead of the sentences, backwards
  std::vector<std::vector<std::size_t>> lengths;
  std::vector<std::vector<Index>> lines;
  Index by_workers = 0;
  std::mutex notes;
};

std::vector<std::string> texts(const std::vector<Translation>& translations) {
  std::vector<std::string> all;
  for (const Translation& one : translations) all.push_back(one.text);
  return all;
}

}  // namespace

TEST_CASE("translate lines: keeps the line order and groups sentences of similar length") {
  Backwards model;
  const auto result = translate_lines({"a b c", "a", "b c", "c c a b"}, words, words, {.batch = 2}, model);
  CHECK(texts(result) == std::vector<std::string>{"c b a", "a", "c b", "b a c c"});
  CHECK(model.lengths == std::vector<std::vector<std::size_t>>{{5, 4}, {3, 2}});  // the longest first, with an end each
  CHECK(result[0].source == std::vector<Token>{4, 5, 6});
  CHECK(result[0].target == std::vector<Token>{6, 5, 4});
}

TEST_CASE("translate lines: blank lines stay blank and are not translated") {
  Backwards model;
  CHECK(texts(translate_lines({"", "a b", " \t", "\r"}, words, words, {}, model)) ==
        std::vector<std::string>{"", "b a", "", ""});
  CHECK(model.lengths == std::vector<std::vector<std::size_t>>{{3}});
  CHECK(translate_lines({}, words, words, {}, model).empty());
  CHECK(model.lengths.size() == 1);
}

TEST_CASE("translate lines: reports invalid UTF-8 and too long lines and translates the others") {
  Backwards model;
  std::vector<std::pair<Index, std::string>> said;
  TranslatorOptions options{.truncate = 2};
  options.warn = [&](Index line, const std::string& what) { said.emplace_back(line, what); };
  CHECK(texts(translate_lines({"a", "\xff b", "a b c"}, words, words, options, model)) ==
        std::vector<std::string>{"a", "b <unk>", "b a"});
  REQUIRE(said.size() == 2);
  CHECK(said[0] == std::pair<Index, std::string>(2, "is not valid UTF-8; each invalid sequence becomes U+FFFD"));
  CHECK(said[1] == std::pair<Index, std::string>(3, "has 3 tokens; only the first 2 are translated"));
}

TEST_CASE("translate lines: a line break inside a translation becomes a space") {
  Backwards model;
  model.given = {{{.tokens = {4, 7, 5}}}};
  CHECK(texts(translate_lines({"a"}, words, words, {}, model)) == std::vector<std::string>{"a   b"});
}

TEST_CASE("translate lines: rejects options that allow nothing") {
  Backwards model;
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, {.limit = -1}, model); }), "truncate >= 1"));
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, {.batch = -1}, model); }), "batch >= 0"));
}

TEST_CASE("translate lines: reports the lines of each batch and keeps hypotheses in order") {
  Backwards model;
  translate_lines({"a b c", "", "a", "b c"}, words, words, {.batch = 2}, model);
  CHECK(model.lines == std::vector<std::vector<Index>>{{0, 3}, {2}});
  model.given = {
      {{.tokens = {4}, .log_probability = -1, .score = -0.5}, {.tokens = {5, 5}, .score = -2, .complete = false}}};
  const auto result = translate_lines({"", "a"}, words, words, {}, model);
  CHECK(result[0].n_best.empty());
  CHECK(result[0].complete());
  REQUIRE(result[1].n_best.size() == 2);
  CHECK(result[1].text == "a");
  CHECK(result[1].target == std::vector<Token>{4});
  CHECK(result[1].complete());
  CHECK(result[1].n_best[0].score == -0.5);
  CHECK(result[1].n_best[1].text == "b b");
  CHECK_FALSE(result[1].n_best[1].complete);
}

TEST_CASE("translate lines: search options for a subset of lines") {
  TranslatorOptions options{
      .limit = 9, .never = {0, 7}, .search = SearchOptions{.beam = 3, .never = {7}}, .lines_before = 100};
  options.search->prefixes = {{4}, {5}, {6}};
  const std::vector<Index> lines{2, 0};
  const SearchOptions search = search_options_of(options, words, lines, {});
  CHECK(search.begin == words.begin());
  CHECK(search.end == words.end());
  CHECK(search.limit == 9);
  CHECK(search.beam == 3);
  CHECK(search.never == std::vector<Token>{7, 0});
  CHECK(search.prefixes == std::vector<std::vector<Token>>{{6}, {4}});
  CHECK(search.streams == std::vector<std::uint64_t>{102, 100});
  Backwards model;
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, options, model); }), "3 prefixes for 1 lines"));
}

TEST_CASE("translate lines: several workers give the same results and few batches run sequentially") {
  const std::string letters = "abc";
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 37; ++i) {
    lines.emplace_back(1, letters[i % 3]);
    for (std::size_t k = 0; k < i % 5; ++k) lines.back() += std::string(" ") + letters[(i / 3 + k) % 3];
  }
  Backwards one, three;
  three.count = 3;
  const auto expected = texts(translate_lines(lines, words, words, {.batch = 4}, one));
  CHECK(expected[4] == "b a c b b");
  CHECK(one.by_workers == 0);
  CHECK(texts(translate_lines(lines, words, words, {.batch = 4}, three)) == expected);
  CHECK(three.by_workers == 10);
  CHECK(texts(translate_lines(lines, words, words, {.batch = 20}, three)) == expected);
  CHECK(three.by_workers == 10);  // two batches are too few for three workers
}

TEST_CASE("translate lines: batches average at most 64 tokens per sentence") {
  Sentences sentences;
  const std::vector<Token> longest(200, 4), shortest(1, 4);
  for (int i = 0; i < 3; ++i) sentences.push_back(shortest), sentences.push_back(longest);
  CHECK(batches_by_length(sentences, 4) == std::vector<std::vector<Index>>{{1}, {3}, {5, 0, 2, 4}});
  CHECK(batches_by_length(sentences, 2) == std::vector<std::vector<Index>>{{1}, {3}, {5}, {0, 2}, {4}});
  CHECK(batches_by_length({}, 4).empty());
}

TEST_CASE("translate lines: a batch that exceeds memory is halved and a too long sentence is an error") {
  Backwards model;
  model.fits = 2;
  CHECK(texts(translate_lines({"a b", "b", "c", "a c", "b c"}, words, words, {}, model)) ==
        std::vector<std::string>{"b a", "b", "c", "c a", "c b"});
  CHECK(model.lines == std::vector<std::vector<Index>>{{0, 3}, {4}, {1, 2}});
  model.fits = 0;
  CHECK(error_of([&] { translate_lines({"a", "b"}, words, words, {}, model); }) == "too many sentences");
}
