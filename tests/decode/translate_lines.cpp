#include "attn/decode/translate_lines.hpp"

#include <doctest/doctest.h>

#include <atomic>

#include "attn/text/word_vocabulary.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "\n"});

/// Translates a sentence into itself, backwards, without its end; notes what it was given.
struct Backwards {
  std::vector<std::vector<std::size_t>> lengths;
  std::vector<std::vector<Index>> lines;

  auto decoder() {
    return [this](const Sentences& batch, std::span<const Index> places) {
      std::vector<std::vector<Hypothesis>> results;
      lines.emplace_back(places.begin(), places.end());
      lengths.emplace_back();
      for (Index i = 0; i < batch.size(); ++i) {
        const auto sentence = batch[i];
        lengths.back().push_back(sentence.size());
        results.push_back({{.tokens = {sentence.rbegin() + 1, sentence.rend()}}});
      }
      return results;
    };
  }
};

std::vector<std::string> texts(const std::vector<Translation>& translations) {
  std::vector<std::string> all;
  for (const Translation& one : translations) all.push_back(one.text);
  return all;
}

}  // namespace

TEST_CASE("translate lines: one for each line, in their order, sentences of similar length together") {
  Backwards model;
  const auto result = translate_lines({"a b c", "a", "b c", "c c a b"}, words, words, {.batch = 2}, model.decoder());
  CHECK(texts(result) == std::vector<std::string>{"c b a", "a", "c b", "b a c c"});
  CHECK(model.lengths == std::vector<std::vector<std::size_t>>{{2, 3}, {4, 5}});  // with an end each
  CHECK(result[0].source == std::vector<Token>{4, 5, 6});
  CHECK(result[0].target == std::vector<Token>{6, 5, 4});
}

TEST_CASE("translate lines: blank lines stay blank and cost nothing") {
  Backwards model;
  CHECK(texts(translate_lines({"", "a b", " \t", "\r"}, words, words, {}, model.decoder())) ==
        std::vector<std::string>{"", "b a", "", ""});
  CHECK(model.lengths == std::vector<std::vector<std::size_t>>{{3}});
  CHECK(translate_lines({}, words, words, {}, model.decoder()).empty());
  CHECK(model.lengths.size() == 1);
}

TEST_CASE("translate lines: what is not UTF-8 or too long is said, and loses no other line") {
  Backwards model;
  std::vector<std::pair<Index, std::string>> said;
  TranslatorOptions options{.truncate = 2};
  options.warn = [&](Index line, const std::string& what) { said.emplace_back(line, what); };
  CHECK(texts(translate_lines({"a", "\xff b", "a b c"}, words, words, options, model.decoder())) ==
        std::vector<std::string>{"a", "b <unk>", "b a"});
  REQUIRE(said.size() == 2);
  CHECK(said[0] == std::pair<Index, std::string>(2, "is not valid UTF-8; each wrong sequence is read as U+FFFD"));
  CHECK(said[1] == std::pair<Index, std::string>(3, "has 3 tokens; the first 2 are translated"));
}

TEST_CASE("translate lines: a line end inside a translation is a space") {
  Backwards model;
  const auto ends = [](const Sentences& batch, std::span<const Index>) {
    return as_hypotheses(std::vector<std::vector<Token>>(static_cast<std::size_t>(batch.size()), {4, 7, 5}), 256);
  };
  CHECK(texts(translate_lines({"a"}, words, words, {}, ends)) == std::vector<std::string>{"a   b"});
}

TEST_CASE("translate lines: options that allow nothing are refused") {
  Backwards model;
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, {.limit = 0}, model.decoder()); }), "at least 1"));
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, {.batch = 0}, model.decoder()); }), "at least 1"));
}

TEST_CASE("translate lines: each batch is told its lines; hypotheses keep their order, and the first is the translation") {
  Backwards model;
  translate_lines({"a b c", "", "a", "b c"}, words, words, {.batch = 2}, model.decoder());
  CHECK(model.lines == std::vector<std::vector<Index>>{{2, 3}, {0}});
  const auto two = [](const Sentences&, std::span<const Index>) {
    return std::vector<std::vector<Hypothesis>>{
        {{.tokens = {4}, .log_probability = -1, .score = -0.5}, {.tokens = {5, 5}, .score = -2, .complete = false}}};
  };
  const auto result = translate_lines({"", "a"}, words, words, {}, two);
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

TEST_CASE("translate lines: how to search for some lines of a text") {
  TranslatorOptions options{.limit = 9, .never = 0, .search = SearchOptions{.beam = 3, .never = {7}}, .lines_before = 100};
  options.search->prefixes = {{4}, {5}, {6}};
  const std::vector<Index> lines{2, 0};
  const SearchOptions search = search_options_of(options, words, lines);
  CHECK(search.begin == words.begin());
  CHECK(search.end == words.end());
  CHECK(search.limit == 9);
  CHECK(search.beam == 3);
  CHECK(search.never == std::vector<Token>{7, 0});
  CHECK(search.prefixes == std::vector<std::vector<Token>>{{6}, {4}});
  CHECK(search.streams == std::vector<std::uint64_t>{102, 100});
  Backwards model;
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, options, model.decoder()); }),
                 "3 prefixes for 1 lines"));
}

TEST_CASE("translate lines: several workers decode a text as one does, each a batch at a time") {
  const std::string letters = "abc";
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < 37; ++i) {
    lines.emplace_back(1, letters[i % 3]);
    for (std::size_t k = 0; k < i % 5; ++k) lines.back() += std::string(" ") + letters[(i / 3 + k) % 3];
  }
  std::atomic<int> busy[3] = {}, together = 0, by_workers = 0;
  const auto decode = [&](const Sentences& batch, std::span<const Index>, Index worker) {
    if (worker >= 0) together += busy[worker]++ > 0, ++by_workers;
    std::vector<std::vector<Hypothesis>> results;
    for (Index i = 0; i < batch.size(); ++i) results.push_back({{.tokens = {batch[i].rbegin() + 1, batch[i].rend()}}});
    if (worker >= 0) --busy[worker];
    return results;
  };
  const auto expected = texts(translate_lines(lines, words, words, {.batch = 4}, decode));
  CHECK(expected[4] == "b a c b b");
  CHECK(by_workers == 0);
  CHECK(texts(translate_lines(lines, words, words, {.batch = 4}, decode, 3)) == expected);
  CHECK(by_workers == 10);
  CHECK(together == 0);  // a worker has one batch at a time
  CHECK(texts(translate_lines(lines, words, words, {.batch = 20}, decode, 3)) == expected);
  CHECK(by_workers == 10);  // two batches are too few for three workers
  const auto fails = [](const Sentences&, std::span<const Index>, Index) -> std::vector<std::vector<Hypothesis>> {
    fail("no model");
  };
  CHECK(error_of([&] { translate_lines(lines, words, words, {.batch = 4}, fails, 3); }) == "no model");
}
