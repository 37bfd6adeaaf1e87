#include "common/print_translation.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "attn/run/cpu_models.hpp"
#include "attn/text/word_vocabulary.hpp"

using namespace attn;

namespace {

using Tiny = Transformer<Cpu<float>,
                         TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32}>;

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});

FolderTranslator tiny_translator() {
  models().add<Tiny>("tiny");
  const RunConfig config{{.name = "tiny", .source_vocabulary = 8, .target_vocabulary = 8, .dropout = 0}, words, words};
  return {config, models().make(config.model, {.device = "cpu", .threads = 1}, 7)};
}

/// Two translations of "a b", by hand.
Translation two() {
  const TranslatedHypothesis first{Hypothesis{.tokens = {6, 7}, .score = -0.25}, "c d"};
  const TranslatedHypothesis second{Hypothesis{.tokens = {6}, .score = -1.5, .complete = false}, "c"};
  return {{4, 5}, {6, 7}, "c d", {first, second}};
}

std::string printed(const PrintOptions& options, const Translation& translation, const std::string& line = "a b") {
  static const FolderTranslator translator = tiny_translator();
  std::ostringstream out;
  print_translation(out, options, translator, 3, line, translation);
  return out.str();
}

}  // namespace

TEST_CASE("print translation: prints a line or selected fields") {
  CHECK(printed({}, two()) == "c d\n");
  CHECK(printed({.scores = true}, two()) == "c d ||| -0.25\n");
  CHECK(printed({.n_best = true}, two()) == "3 ||| c d ||| -0.25\n3 ||| c ||| -1.5\n");
  CHECK(printed({}, {}, "") == "\n");
  CHECK(printed({.n_best = true}, {}, "") == "3 |||  ||| 0\n");
  CHECK(printed({.alignments = true}, {}, "") == " ||| \n");
  const std::string aligned = printed({.alignments = true}, two());
  CHECK(aligned.starts_with("c d ||| "));
  CHECK(aligned.size() > std::string("c d ||| \n").size());
}

TEST_CASE("print translation: prints a JSON object") {
  CHECK(printed({.json = true}, two()) == "{\"source\":\"a b\",\"translation\":\"c d\",\"complete\":true}\n");
  CHECK(printed({.json = true}, {}, "") == "{\"source\":\"\",\"translation\":\"\",\"complete\":true}\n");
  CHECK(printed({.n_best = true, .json = true}, two()) ==
        "{\"source\":\"a b\",\"translation\":\"c d\",\"score\":-0.25,\"complete\":true,\"n_best\":["
        "{\"translation\":\"c d\",\"score\":-0.25,\"complete\":true},"
        "{\"translation\":\"c\",\"score\":-1.5,\"complete\":false}]}\n");
  CHECK(printed({.n_best = true, .json = true}, {}, "") ==
        "{\"source\":\"\",\"translation\":\"\",\"score\":0.0,\"complete\":true,\"n_best\":["
        "{\"translation\":\"\",\"score\":0.0,\"complete\":true}]}\n");
  const auto aligned = nlohmann::json::parse(printed({.alignments = true, .json = true}, two()));
  REQUIRE(aligned.at("alignment").size() > 0);
  CHECK(aligned.at("alignment")[0].size() == 2);
}
