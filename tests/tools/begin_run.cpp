#include "common/begin_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "attn/run/corpus_folder.hpp"
#include "attn/run/cpu_models.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("begin run: the config describes the run and a run resumes only with its own settings") {
  constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
  models().add<Transformer<Cpu<float>, shape>>("begun");
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
  RunConfig config{.model = {.name = "begun", .source_vocabulary = 8, .target_vocabulary = 8},
                   .source = words,
                   .target = words,
                   .settings = {{"rate", "0.1"}, {"epochs", "2"}},
                   .seed = 7};
  const TemporaryFolder folder;
  const DeviceOptions device{.device = "cpu", .threads = 1};
  CHECK(begin_run(folder.path(), config, device)->spec().name == "begun");
  const RunConfig read = read_run_config(folder.path());
  CHECK(read.shape.at("width") == 16);
  CHECK(read.device == "1 thread");
  CHECK(read.settings == config.settings);

  config.settings["epochs"] = "3";
  CHECK(begin_run(folder.path(), config, device, true, {"epochs"}) != nullptr);
  config.settings["rate"] = "0.2";
  CHECK(contains(error_of([&] { begin_run(folder.path(), config, device, true, {"epochs"}); }),
                 "started with rate 0.1, not 0.2"));
  CHECK(read_run_config(folder.path()).settings.at("rate") == "0.1");
}

TEST_CASE("begin run: names the first different setting unless it may differ") {
  const Metadata then{{"epochs", "2"}, {"rate", "0.1"}};
  CHECK(different_setting(then, then).empty());
  CHECK(different_setting(then, {{"epochs", "3"}, {"rate", "0.2"}}) == "epochs 2, not 3");
  CHECK(different_setting(then, {{"epochs", "3"}, {"rate", "0.2"}}, {"epochs"}) == "rate 0.1, not 0.2");
  CHECK(different_setting(then, {{"epochs", "2"}, {"a new one", "1"}}).empty());
}

TEST_CASE("begin run: a new run removes the old run and a resumed run removes its results") {
  constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
  models().add<Transformer<Cpu<float>, shape>>("begun");
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
  RunConfig config{
      .model = {.name = "begun", .source_vocabulary = 8, .target_vocabulary = 8}, .source = words, .target = words};
  const TemporaryFolder folder;
  const DeviceOptions device{.device = "cpu", .threads = 1};
  const std::vector<std::string> results{"report.html",   "outcome.json",   "translations.txt", "translations.news.txt",
                                         "maps/0001.svg", "maps/0001.html", "maps/index.html"};
  const std::vector<std::string> parts{"model.safetensors", "training.safetensors",       "best/10.safetensors",
                                       "best/list.txt",     "best/mean.safetensors",      "log.jsonl",
                                       "curve.svg",         "events.out.tfevents.17.attn"};
  const std::vector<std::string> others{"notes.txt",
                                        "translations.de",
                                        "translations.mine.txt",
                                        "events.out.tfevents.17.other",
                                        "events.out.tfevents.mine.attn",
                                        "plans.json",
                                        "maps/mine.svg",
                                        "best/mine.safetensors"};
  const auto fill = [&] {
    for (const char* inner : {"maps", "best"}) std::filesystem::create_directories(folder / inner);
    for (const auto* names : {&results, &parts, &others})
      for (const std::string& name : *names) write_file(folder / name, "old");
    write_file(folder / "outcome.json", R"({"tests": {"news": {"bleu": 1}}})");
  };
  const auto count = [&](const std::vector<std::string>& names) {
    return std::ranges::count_if(names, [&](const std::string& name) { return std::filesystem::exists(folder / name); });
  };
  fill();
  begin_run(folder.path(), config, device);
  CHECK(count(parts) == std::ssize(parts));  // of no run: there was none
  CHECK(is_finished_run(folder.path()));
  begin_run(folder.path(), config, device, true);
  CHECK_FALSE(is_finished_run(folder.path()));
  CHECK(count(results) == 0);
  CHECK(count(parts) == std::ssize(parts));
  CHECK(count(others) == std::ssize(others));
  fill();
  begin_run(folder.path(), config, device, false, {}, false);  // another rank's business
  CHECK(count(results) + count(parts) == std::ssize(results) + std::ssize(parts));
  begin_run(folder.path(), config, device);
  CHECK(count(results) + count(parts) == 0);
  CHECK(count(others) == std::ssize(others));
  CHECK(has_run(folder.path()));

  fill();
  for (const std::string& name : others) std::filesystem::remove(folder / name);
  write_file(folder / "outcome.json", "{");  // names no translations
  begin_run(folder.path(), config, device);
  CHECK_FALSE((std::filesystem::exists(folder / "maps") || std::filesystem::exists(folder / "best")));
  CHECK_FALSE((std::filesystem::exists(folder / "translations.txt") || std::filesystem::exists(folder / "outcome.json")));
  CHECK(std::filesystem::exists(folder / "translations.news.txt"));
}

TEST_CASE("begin run: rejects a corpus folder to protect its tokenizer") {
  constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
  models().add<Transformer<Cpu<float>, shape>>("begun");
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"}),
      others({"<unk>", "<pad>", "<sos>", "<eos>"});
  RunConfig config{
      .model = {.name = "begun", .source_vocabulary = 8, .target_vocabulary = 8}, .source = words, .target = words};
  const TemporaryFolder folder;
  const DeviceOptions device{.device = "cpu", .threads = 1};
  begin_corpus(folder.path(), {others, others}, "these words");
  CHECK(contains(error_of([&] { begin_run(folder.path(), config, device); }),
                 "contains shards (corpus.json); a run would overwrite their tokenizer. Choose another folder"));
  CHECK_FALSE(has_run(folder.path()));
  const auto kept = tokenizers_of_corpus(folder.path(), "these words");
  REQUIRE(kept.has_value());
  CHECK(kept->source.hash() == AnyTokenizer(others).hash());
}
