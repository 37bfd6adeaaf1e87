#include "attn/decode/translate_lines.hpp"

#include <doctest/doctest.h>

#include "attn/text/word_vocabulary.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "\n"});

/// Translates a sentence into itself, backwards, without its end; notes what it was given.
struct Backwards {
  std::vector<std::vector<std::size_t>> lengths;

  auto decoder() {
    return [this](const Sentences& batch) {
      std::vector<std::vector<Token>> results;
      lengths.emplace_back();
      for (Index i = 0; i < batch.size(); ++i) {
        const auto sentence = batch[i];
        lengths.back().push_back(sentence.size());
        results.emplace_back(sentence.rbegin() + 1, sentence.rend());
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
  const auto ends = [](const Sentences& batch) {
    return std::vector<std::vector<Token>>(static_cast<std::size_t>(batch.size()), {4, 7, 5});
  };
  CHECK(texts(translate_lines({"a"}, words, words, {}, ends)) == std::vector<std::string>{"a   b"});
}

TEST_CASE("translate lines: options that allow nothing are refused") {
  Backwards model;
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, {.limit = 0}, model.decoder()); }), "at least 1"));
  CHECK(contains(error_of([&] { translate_lines({"a"}, words, words, {.batch = 0}, model.decoder()); }), "at least 1"));
}
