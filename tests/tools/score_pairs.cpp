#include "common/score_pairs.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attn/run/cpu_models.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

using Tiny = Transformer<Cpu<float>,
                         TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32}>;

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});

FolderTranslator tiny_translator(Index truncate) {
  models().add<Tiny>("tiny");
  RunConfig config{{.name = "tiny", .source_vocabulary = 8, .target_vocabulary = 8, .dropout = 0}, words, words};
  config.truncate = truncate;
  return {config, models().make(config.model, {.device = "cpu", .threads = 1}, 7)};
}

}  // namespace

TEST_CASE("score pairs: equals the sum of forced decoding over tokens") {
  const FolderTranslator translator = tiny_translator(255);
  const ParallelText text{{"a b c", "d", "", "a"}, {"c b", "", "d d d", "a b c d"}};
  const std::vector<PairScore> scores = score_pairs(translator, text);
  REQUIRE(scores.size() == 4);
  const SpecialTokens special_tokens = special_tokens_of(words, words);
  double all = 0, tokens = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    CAPTURE(i);
    const std::vector<Token> source = words.encode(text.source[i]);
    std::vector<Token> target = words.encode(text.target[i]), before;
    target.push_back(words.end());
    double expected = 0;
    for (const Token token : target) {
      expected += std::log(translator.model().next_token(special_tokens, source, before)[static_cast<std::size_t>(token)]);
      before.push_back(token);
    }
    CHECK(scores[i].log_probability == doctest::Approx(expected).epsilon(1e-5));
    CHECK(scores[i].tokens == std::ssize(target));
    all -= expected, tokens += static_cast<double>(target.size());
  }
  CHECK(perplexity_of(scores).value() == doctest::Approx(std::exp(all / tokens)).epsilon(1e-5));
  CHECK(perplexity_of(scores).tokens() == 3 + 1 + 4 + 5);
}

TEST_CASE("score pairs: accepts many pairs and none and truncated sentences") {
  const FolderTranslator translator = tiny_translator(2);
  const ParallelText one{{"a b"}, {"c d"}};
  ParallelText many;
  for (int i = 0; i < 130; ++i) many.source.push_back("a b c"), many.target.push_back("c d a b");
  const std::vector<PairScore> scores = score_pairs(translator, many);
  REQUIRE(scores.size() == 130);
  const PairScore expected = score_pairs(translator, one)[0];
  CHECK(expected.cut == 0);
  for (const PairScore& score : scores) {
    CHECK(score.log_probability == doctest::Approx(expected.log_probability).epsilon(1e-6));
    CHECK(score.tokens == 3);
    CHECK(score.cut == 2);
  }
  CHECK(score_pairs(translator, {}).empty());
  CHECK(contains(error_of([] { perplexity_of({}).value(); }), "no tokens were added"));
}
