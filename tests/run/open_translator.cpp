#include "attn/run/open_translator.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>

#include "attn/decode/translator.hpp"
#include "attn/run/cpu_models.hpp"
#include "attn/run/run_folder.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

constexpr TransformerShape tiny_shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
using Tiny = Transformer<Cpu<float>, tiny_shape>;

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
const std::vector<std::string> lines{"a b c", "", "d", "c a", "b b b b"};

/// A model of the program's own, trained for a moment, in a folder.
struct Run {
  TemporaryFolder folder;
  ParallelCorpus corpus;
  RunConfig config{{.name = "tiny", .source_vocabulary = 8, .target_vocabulary = 8, .dropout = 0}, words, words};
  std::vector<std::string> said;

  Run() {
    models().add<Tiny>("tiny");
    const ParallelText text{{"a b", "c", "d d", "a c d"}, {"b a", "c", "d d", "d c a"}};
    corpus = encode_corpus(text, words, words);
    config.limit = 6;
  }

  TrainingOutcome train(Index epochs, bool resume = false) {
    const auto model = models().make(config.model, {.device = "cpu", .threads = 1}, 7);
    config.shape = model->shape();
    write_run_config(folder.path(), config);
    return model->train({.folder = folder.path(),
                         .training = corpus,
                         .validation = corpus,
                         .special_tokens = special_tokens_of(words, words),
                         .batches = {.size = 2},
                         .validation_batches = {.size = 2},
                         .train = {.epochs = epochs},
                         .schedule = [](Index, Index) { return [](Index) { return 1e-2; }; },
                         .title = "tiny",
                         .resume = resume,
                         .print = [&](const std::string& text) { said.push_back(text); }});
  }
};

}  // namespace

TEST_CASE("open translator: a folder translates as the typed translator does") {
  Run run;
  const TrainingOutcome outcome = run.train(3);
  CHECK(outcome.state.step == 6);
  CHECK(outcome.steps == 6);
  REQUIRE(run.said.size() == 1);
  CHECK(contains(run.said[0], "tiny: "));
  CHECK(contains(run.said[0], "6 steps of 2 sentences"));

  const FolderTranslator translate = open_translator(run.folder.path(), {.device = "cpu", .threads = 1});
  const auto translations = translate(lines);
  CHECK(translations.size() == lines.size());
  CHECK(translations[1].empty());

  Cpu<float> device(1);
  Network<Tiny> network(device, {.source_vocabulary = 8, .target_vocabulary = 8}, Inference{});
  load_model(SafetensorsFile(run.folder / "model.safetensors"), network.parameters);
  const Translator typed(device, network.model, words, words, {.limit = 6, .truncate = 255});
  CHECK(typed(lines) == translations);
}

TEST_CASE("open translator: next-token probabilities match the tokens written") {
  Run run;
  run.train(2);
  const FolderTranslator translate = open_translator(run.folder.path(), {.device = "cpu", .threads = 1});
  const auto first = translate.next_token("a b", "");
  REQUIRE(first.size() == 8);
  double total = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    total += first[i].probability;
    CHECK((i == 0 || first[i - 1].probability >= first[i].probability));
    CHECK(first[i].name == words.words()[static_cast<std::size_t>(first[i].token)]);
  }
  CHECK(total == doctest::Approx(1).epsilon(1e-9));

  // Greedy decoding takes the most probable token each time.
  std::string written;
  const std::string whole = translate({"a b"})[0];
  for (int i = 0; i < 6; ++i) {
    const auto next = translate.next_token("a b", written);
    if (next[0].token == words.end()) break;
    written += (written.empty() ? "" : " ") + next[0].name;
  }
  CHECK(written == whole);
}

TEST_CASE("open translator: attention maps cover every head") {
  Run run;
  run.train(1);
  const FolderTranslator translate = open_translator(run.folder.path(), {.device = "cpu"});
  const auto maps = translate.attention_maps(words.encode("a b c"), words.encode("c b"));
  REQUIRE(maps.size() == 6);  // two heads of three attentions
  CHECK(maps[4].layer == "decoder.layers.0.cross_attention");
  CHECK(maps[4].rows == 3);
  CHECK(maps[4].cols == 4);
}

TEST_CASE("open translator: a beam of 1 is greedy and hypothesis scores equal forced decoding") {
  Run run;
  run.train(3);
  FolderTranslator translate = open_translator(run.folder.path(), {.device = "cpu", .threads = 1});
  const auto greedy = translate(lines);
  translate.options.search = SearchOptions{.beam = 1};
  CHECK(translate(lines) == greedy);
  translate.options.search = SearchOptions{.beam = 4, .score = {ScoreKind::log_probability}, .n_best = 4};
  const auto results = translate.translate(lines);
  CHECK(results[1].n_best.empty());
  REQUIRE(results[0].n_best.size() == 4);
  CHECK(results[0].text == results[0].n_best[0].text);
  for (std::size_t i = 1; i < 4; ++i) CHECK(results[0].n_best[i - 1].score >= results[0].n_best[i].score);
  Index compared = 0;
  for (const auto& hypothesis : results[0].n_best) {
    if (!hypothesis.complete || words.encode(hypothesis.text) != hypothesis.tokens) continue;
    double sum = 0;
    for (const double p : translate.log_probabilities(lines[0], hypothesis.text)) sum += p;
    CHECK(sum == doctest::Approx(hypothesis.log_probability).epsilon(1e-5));
    ++compared;
  }
  CHECK(compared > 0);

  Cpu<float> device(1);
  Network<Tiny> network(device, {.source_vocabulary = 8, .target_vocabulary = 8}, Inference{});
  load_model(SafetensorsFile(run.folder / "model.safetensors"), network.parameters);
  const Translator typed(device, network.model, words, words,
                         {.limit = 6, .truncate = 255, .search = translate.options.search});
  const auto expected = typed.translate(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    REQUIRE(expected[i].n_best.size() == results[i].n_best.size());
    for (std::size_t n = 0; n < expected[i].n_best.size(); ++n) {
      CHECK(expected[i].n_best[n].text == results[i].n_best[n].text);
      CHECK(expected[i].n_best[n].score == results[i].n_best[n].score);
    }
  }
}

TEST_CASE("open translator: samples repeat with their seed and do not depend on the batch split") {
  Run run;
  run.train(1);
  FolderTranslator translate = open_translator(run.folder.path(), {.device = "cpu", .threads = 1});
  translate.options.search = SearchOptions{.n_best = 1, .sampling = Sampling{.temperature = 2, .seed = 5}};
  const auto whole = translate(lines);
  CHECK(translate(lines) == whole);
  CHECK(whole[1].empty());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    translate.options.lines_before = static_cast<Index>(i);
    CHECK(translate({lines[i]})[0] == whole[i]);
  }
  translate.options.lines_before = 0;
  translate.options.search->sampling->seed = 6;
  CHECK(translate(lines) != whole);
}

TEST_CASE("open translator: an ensemble of one folder twice equals the folder and other tokenizers are rejected") {
  Run run, other;
  run.train(3);
  other.train(1);
  const DeviceOptions cpu{.device = "cpu", .threads = 1};
  FolderTranslator one = open_translator(run.folder.path(), cpu);
  FolderTranslator twice = open_ensemble({run.folder.path(), run.folder.path()}, cpu);
  CHECK(twice(lines) == one(lines));
  FolderTranslator both = open_ensemble({run.folder.path(), other.folder.path()}, cpu);
  const auto p = one.log_probabilities("a b", "b"), mean = both.log_probabilities("a b", "b"),
             q = open_translator(other.folder.path(), cpu).log_probabilities("a b", "b");
  REQUIRE(mean.size() == 2);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(std::exp(mean[i]) == doctest::Approx((std::exp(p[i]) + std::exp(q[i])) / 2).epsilon(1e-6));
  both.options.search = SearchOptions{.beam = 3, .score = {ScoreKind::log_probability}};
  const auto found = both.translate({"a b"})[0];
  if (found.complete()) {
    double sum = 0;
    for (const double x : both.log_probabilities("a b", found.text)) sum += x;
    CHECK(sum == doctest::Approx(found.n_best[0].log_probability).epsilon(1e-5));
  }
  const WordVocabulary more({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "e"});
  other.config.source = other.config.target = more;
  write_run_config(other.folder.path(), other.config);
  CHECK(contains(error_of([&] { open_ensemble({run.folder.path(), other.folder.path()}, cpu); }), "has other tokenizers"));
  CHECK(contains(error_of([&] { open_ensemble({}, cpu); }), "pass at least one folder"));
}

TEST_CASE("open translator: returns the search tree of a line and word links") {
  Run run;
  run.train(2);
  FolderTranslator translate = open_translator(run.folder.path(), {.device = "cpu", .threads = 1});
  const SearchTree tree = translate.search_tree("a b c");
  REQUIRE(tree.nodes.size() > 3);
  CHECK(tree.nodes[1].best + tree.nodes[2].best == 1);
  translate.options.search = SearchOptions{.beam = 1};
  CHECK(translate.search_tree("a b c").nodes.size() == tree.nodes.size());
  translate.options.search = SearchOptions{.beam = 0};
  CHECK(contains(error_of([&] { translate({"a b c"}); }), "search: beam is 0"));
  translate.options.search = {};
  const auto links = translate.alignment(words.encode("a b c"), words.encode("c b"));
  REQUIRE(links.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(links[i].target == static_cast<Index>(i));
    CHECK(links[i].source < 3);
  }
}

TEST_CASE("open translator: several threads may share one or use their own") {
  Run run;
  run.train(2);
  const FolderTranslator shared = open_translator(run.folder.path(), {.device = "cpu", .threads = 1});
  const auto expected = shared(lines);
  std::vector<std::vector<std::string>> results(6);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i)
      threads.emplace_back([&, i] {
        results[i] =
            i % 2 == 0 ? shared(lines) : open_translator(run.folder.path(), {.device = "cpu", .threads = 1})(lines);
      });
  }
  for (const auto& result : results) CHECK(result == expected);
}

TEST_CASE("training run: a resumed run ends with the same bits as an uninterrupted one") {
  Run whole, parts;
  whole.train(4);
  parts.train(2);
  parts.train(4, true);
  CHECK(contains(parts.said[1], "resuming at step 4"));
  CHECK(read_file(parts.folder / "training.safetensors") == read_file(whole.folder / "training.safetensors"));
}

TEST_CASE("open translator: rejects missing and incomplete and newer folders") {
  Run run;
  const auto opened = [&] { return error_of([&] { open_translator(run.folder.path(), {.device = "cpu"}); }); };
  CHECK(contains(error_of([] { open_translator("no/such/folder"); }), "is not a folder"));
  CHECK(contains(opened(), "there is no model.json"));
  write_run_config(run.folder.path(), run.config);
  CHECK(contains(opened(), ": the training has not validated yet. Wait for its first validation."));
  run.train(1);
  CHECK(opened() == "");
  const std::string whole = read_file(run.folder / "model.json"), sum = "\"checksum\": \"";
  REQUIRE(whole.find(sum) != whole.npos);
  for (const char* from : {"\"seed\": 1", "\"tiny", "\"checksum\": \""}) {
    std::string damaged = whole;
    const std::size_t at = damaged.find(from);
    REQUIRE(at != damaged.npos);
    damaged[at + std::string(from).size() - 1] ^= 1;
    write_file(run.folder / "model.json", damaged);
    CHECK(contains(opened(), "model.json is damaged or was changed by hand: "));
  }
  write_file(run.folder / "model.json", whole + std::string(3, '\0'));
  CHECK(contains(opened(), "model.json is damaged or was changed by hand: it is not JSON from byte "));
  auto older = nlohmann::ordered_json::parse(whole);
  older.erase("checksum");
  const std::string config = older.dump(2);  // as attn before 0.3 wrote it
  write_file(run.folder / "model.json", config);
  CHECK(opened() == "");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = config;
    REQUIRE(text.find(from) != text.npos);
    write_file(run.folder / "model.json", text.replace(text.find(from), from.size(), to));
  };
  replaced("\"format\": 1", "\"format\": 2");
  CHECK(contains(opened(), " has format 2, but this version reads at most 1. Update attn."));
  replaced("\"limit\"", "\"limits\"");
  CHECK(contains(opened(), "is damaged or was changed by hand"));
  replaced("\"limit\": ", "\"limit\": -");
  CHECK(contains(opened(), "by hand: its 'limit' is missing or not a whole number of at least 1"));
  replaced("\"format\": 1", "\"format\": 1e300");
  CHECK(contains(opened(), "by hand: its 'format' is missing or not a whole number of at least 1"));
  replaced("\"source_vocabulary\": ", "\"source_vocabulary\": 1000000000000");
  CHECK(contains(opened(), "does not match its tokenizer's, of "));
  replaced("{", "[");
  CHECK(contains(opened(), "by hand: it is not JSON from byte "));
  replaced("\"name\": \"tiny\"", "\"name\": \"huge\"");
  CHECK(contains(opened(), "unknown model 'huge'; this program knows "));
  RunConfig tied = run.config;
  tied.model.share_embeddings = true, tied.model.source_vocabulary = 9;
  write_run_config(run.folder.path(), tied);
  CHECK(contains(opened(),
                 "model.json is damaged or was changed by hand: shared embeddings need vocabularies of equal size, not "
                 "9 and 8"));
  write_file(run.folder / "model.json", config);
  write_file(run.folder / "tokenizer.vocab", "<unk>,0\n<pad>,1\n<sos>,2\n<eos>,3\na,4\n");
  CHECK(contains(opened(), "is not the tokenizer of the model"));
}

TEST_CASE("open translator: a moved-from translator is an error and the target translates") {
  Run run;
  run.train(1);
  FolderTranslator first = open_translator(run.folder.path(), {.device = "cpu", .threads = 1});
  const auto expected = first(lines);
  const FolderTranslator second = std::move(first);
  CHECK(second(lines) == expected);
  CHECK(contains(error_of([&] { first(lines); }), "this translator was moved from"));  // NOLINT: what is tested
}

#ifdef ATTN_COMPILED
TEST_CASE("open translator: folders of recurrent models open without registration") {
  for (const char* name : {"additive-encoder", "input-feeding-plain"}) {
    Run run;
    run.config.model.name = name;
    run.train(1);
    CHECK(open_translator(run.folder.path(), {.device = "cpu", .threads = 1})(lines).size() == lines.size());
  }
}
#endif
