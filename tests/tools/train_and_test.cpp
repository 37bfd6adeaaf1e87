#include "common/train_and_test.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <sstream>
#include <thread>

#include "attn/run/cpu_models.hpp"
#include "common/earlier_run.hpp"
#include "support/files.hpp"
#include "support/pipe.hpp"

using namespace attn;

namespace {

using Tiny = Transformer<Cpu<float>,
                         TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32}>;

/// A training of a moment, as a program has it.
struct Program {
  TemporaryFolder folder;
  TrainingOptions options;
  TrainingText text{{{"a b", "c", "d d", "a c d"}, {"b a", "c", "d d", "d c a"}}, {{"a c", "b"}, {"c a", "b"}}, {}};
  Communicator alone;
  std::ostringstream said;
  std::optional<RunConfig> before, start;

  Program() {
    models().add<Tiny>("tiny");
    text.test = {{"a b c", "d"}, {"c b a", "d"}};
    options.model = "tiny";
    options.output = folder / "run";
    options.train.epochs = 2, options.batches = {.size = 2, .order = BatchOrder::pooled};
    options.schedule = {.kind = ScheduleKind::constant, .rate = 1e-2, .warmup = 1};
    options.limit = 5;
    options.text.vocabulary = 262;
    options.device = {.device = "cpu", .threads = 1};
  }

  bool run() {
    make_folder(options.output);
    before = run_to_resume(options);
    start = run_to_start_from(options);
    TrainingText texts = text;
    const TrainingCorpus corpus =
        encode_training_text(options.text, texts, tokenizers_of(before ? before : start), alone, said);
    const Metadata settings{{"model", options.model},
                            {"size", "small"},
                            {"norm", "post"},
                            {"epochs", std::to_string(options.train.epochs)},
                            {"freeze", nlohmann::json(options.freeze).dump()}};
    return train_and_test(options, texts, corpus, run_config(options, corpus, settings, before), alone, said);
  }
  std::vector<nlohmann::json> events(const std::string& kind) const {
    std::vector<nlohmann::json> found;
    for (const std::string& line : read_lines(options.output / "log.jsonl"))
      if (auto event = nlohmann::json::parse(line); event.at("event") == kind) found.push_back(event);
    return found;
  }
};

}  // namespace

TEST_CASE("train and test: the folder has the model and log and test translations and report") {
  Program program;
  std::ostringstream json;
  program.options.json = &json;
  CHECK_FALSE(is_finished_run(program.options.output));
  program.run();
  CHECK(is_finished_run(program.options.output));
  CHECK(json.str() == read_file(program.options.output / "log.jsonl"));
  CHECK(read_lines(program.options.output / "translations.txt") ==
        open_translator(program.options.output, program.options.device)(program.text.test.source));
  CHECK(std::filesystem::exists(program.options.output / "maps"));
  const auto samples = program.events("samples"), test = program.events("test");
  REQUIRE(samples.size() == 3);  // of two validations, and of the test
  CHECK((samples[0].at("step") == 2 && samples[1].at("step") == 4 && samples[2].at("step") == 4));
  CHECK(samples[0].at("samples")[0].at("source") == "a c");
  CHECK(samples[2].at("samples")[0].at("reference") == "c b a");
  REQUIRE(test.size() == 1);
  CHECK((test[0].at("sentences") == 2 && test[0].at("beam") == 1 && test[0].at("perplexity") > 1));
  REQUIRE(program.events("trained").size() == 1);
  CHECK(program.events("trained")[0].at("step") == 4);
  CHECK(contains(program.said.str(), "on 2 unseen sentences, greedy: BLEU = "));
  const RunConfig config = read_run_config(program.options.output);
  CHECK((config.limit == 5 && config.truncate == 255 && config.settings.contains("validation text")));
}

TEST_CASE("train and test: terminal output is escaped and files are not") {
  Program program;
  program.text.test = {{"a \x1b[2Jb"}, {"b \x1b[2Ja"}};
  program.run();
  CHECK(contains(program.said.str(), "  source       a ␛[2Jb\n"));
  CHECK(contains(program.said.str(), "  reference    b ␛[2Ja\n"));
  CHECK_FALSE(contains(program.said.str(), "\x1b"));
  CHECK(program.events("samples").back().at("samples")[0].at("source") == "a \x1b[2Jb");
}

TEST_CASE("train and test: a run resumes with its own settings or is replaced on request") {
  Program program;
  program.run();
  const std::string whole = read_file(program.options.output / "model.safetensors");
  CHECK(contains(error_of([&] { program.run(); }), "Resume it (--resume), replace it (--overwrite)"));
  program.options.resume = true;
  program.options.train.epochs = 3;
  program.run();
  CHECK(program.before->settings.at("epochs") == "2");
  CHECK(program.events("trained").back().at("step") == 6);
  program.options.resume = false;
  program.options.overwrite = true;
  program.options.train.epochs = 2;
  program.run();
  CHECK(read_file(program.options.output / "model.safetensors") == whole);
  CHECK(program.events("trained").size() == 1);
  program.options.resume = true;
  std::filesystem::remove(program.options.output / "training.safetensors");
  CHECK(contains(error_of([&] { program.run(); }), "ended before its first checkpoint"));
}

TEST_CASE("train and test: a frozen encoder keeps its weights even if the resume does not name it") {
  Program program;
  program.options.freeze = {"encoder"};
  program.options.given = {"freeze"};
  program.run();
  CHECK(contains(program.said.str(), " of them trainable"));
  CHECK(read_run_config(program.options.output).settings.at("freeze") == R"(["encoder"])");
  const auto weight = [&](const char* name) {
    return SafetensorsFile(program.options.output / "training.safetensors").values<float>(name);
  };
  const std::string encoder = "encoder.layers.0.attention.in.weight", decoder = "decoder.layers.0.self_attention.in.weight";
  const auto frozen = weight(encoder.c_str()), moved = weight(decoder.c_str());

  program.options.freeze = {};
  program.options.given = {};
  program.options.resume = true;
  program.options.train.epochs = 3;
  program.run();
  CHECK(program.options.freeze == std::vector<std::string>{"encoder"});
  CHECK(weight(encoder.c_str()) == frozen);
  CHECK(weight(decoder.c_str()) != moved);

  program.options.freeze = {"decoder"};
  program.options.given = {"freeze"};
  CHECK(contains(error_of([&] { program.run(); }), R"(started with freeze ["encoder"], not ["decoder"])"));
}

TEST_CASE("train and test: the log has the gradient norm of each layer on request") {
  Program program;
  program.run();
  for (const auto& event : program.events("step")) CHECK_FALSE(event.contains("gradient_norms"));
  program.options.resume = true;  // log the norms from here on
  program.options.train.gradient_norms = true;
  program.options.train.epochs = 4;
  program.run();
  const auto steps = program.events("step");
  REQUIRE(steps.size() == 4);  // one per epoch
  for (std::size_t i = 2; i < 4; ++i) {
    double squares = 0;
    for (const auto& norm : steps[i].at("gradient_norms")) squares += norm.get<double>() * norm.get<double>();
    CHECK(std::sqrt(squares) == doctest::Approx(steps[i].at("gradient_norm").get<double>()).epsilon(1e-5));
    CHECK(steps[i].at("gradient_norms").at("decoder.layers.0") > 0);
  }
}

TEST_CASE("train and test: only training batches are masked") {
  Program program;
  program.options.batches.mask_rate = 0.5;
  const TrainingCorpus corpus = encode_training_text(program.options.text, program.text, {}, program.alone, program.said);
  const TrainingRun run = training_run(program.options, corpus, {}, program.said);
  CHECK((run.batches.mask_rate == 0.5 && run.validation_batches.mask_rate == 0));
  CHECK(
      (run.special_tokens.source_unknown == corpus.tokenizers.source.unknown() && run.special_tokens.target_unknown >= 0));
}

TEST_CASE("train and test: a misspelled name to freeze is an error that leaves the folder unchanged") {
  Program program;
  program.options.freeze = {"encodr"};
  CHECK(contains(error_of([&] { program.run(); }), "no parameters named 'encodr'"));
  CHECK(contains(error_of([&] { program.run(); }), "did you mean 'encoder'?"));
  CHECK_FALSE(has_run(program.options.output));
}

TEST_CASE("train and test: a run starts from another's weights and tokenizer and reports no improvement") {
  Program program;
  program.run();
  const auto first = program.options.output;
  program.options.start_from = first;
  CHECK(contains(error_of([&] { run_to_start_from(program.options); }), "are the same folder"));
  program.options.output = program.folder / "finer";
  program.options.schedule.rate = 1e3;  // which only makes it worse
  program.options.model = "forgotten";
  program.options.test_beam = 3;
  program.run();
  CHECK(program.options.model == "tiny");
  const RunConfig config = read_run_config(program.options.output);
  CHECK(config.settings.at("start-from") == first.string());
  CHECK(config.source.hash() == read_run_config(first).source.hash());
  CHECK(contains(program.said.str(), "no validation improved on the initial weights: the model keeps them"));
  CHECK(program.events("test")[0].at("beam") == 3);
  CHECK(contains(program.said.str(), "with a beam of 3: BLEU = "));

  program.options.given = {"model"};
  program.options.model = "other";
  CHECK(contains(error_of([&] { run_to_start_from(program.options); }), "--model other conflicts with --start-from"));
  program.options.given = {};
  RunConfig bare = read_run_config(first);
  bare.settings["size"] = "huge";
  write_run_config(first, bare);
  CHECK(contains(error_of([&] { run_to_start_from(program.options); }), "model.json: the setting size cannot be 'huge'"));
  bare.settings.erase("size");
  write_run_config(first, bare);
  CHECK(contains(error_of([&] { run_to_start_from(program.options); }), "its settings have no 'size'"));
}

TEST_CASE("train and test: a resumed run reports its starting point and no vocabulary of its own") {
  Program program;
  program.run();
  CHECK(read_run_config(program.options.output).settings.at("vocabulary") == "262");
  const auto first = program.options.output;
  program.options.start_from = first;
  program.options.output = program.folder / "finer";
  program.run();
  Metadata settings = read_run_config(program.options.output).settings;
  program.options.start_from.clear();
  program.options.text.vocabulary = 4000;  // as options have it that were not given
  program.options.resume = true;
  program.options.train.epochs = 3;
  program.run();
  settings["epochs"] = "3";
  CHECK(read_run_config(program.options.output).settings == settings);
  const std::string weights = read_file(program.options.output / "training.safetensors");
  CHECK((contains(weights, "start-from") && !contains(weights, "vocabulary")));

  program.options.output = first;
  CHECK(contains(error_of([&] { program.run(); }), "started with vocabulary 262, not 4000"));
}

TEST_CASE("train and test: a closed log pipe stops training and the run can resume") {
  Program program;
  Pipe lines;
  program.options.json = &lines.in;
  program.options.train.epochs = 1000;
  std::jthread reader([&] { lines.read_until("\"validation\""), lines.leave(); });
  CHECK_FALSE(program.run());
  CHECK(stop_signal().exchange(0) == SIGPIPE);
  REQUIRE(program.events("trained").size() == 1);
  const Index step = program.events("trained")[0].at("step");
  CHECK(step < 2000);
  program.options.json = nullptr;
  program.options.resume = true;
  program.options.train.epochs = step / 2 + 1;
  CHECK(program.run());
  CHECK(program.events("trained").back().at("step") == 2 * program.options.train.epochs);
}

TEST_CASE("train and test: removing the folder during training is an error") {
  Program program;
  program.options.train.epochs = 1000;
  std::jthread remover([&](const std::stop_token& ended) {
    while (!ended.stop_requested() && !std::filesystem::exists(program.options.output / "training.safetensors"))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::error_code ignored;
    while (!ended.stop_requested() && std::filesystem::exists(program.options.output))
      std::filesystem::remove_all(program.options.output, ignored);
  });
  CHECK(contains(error_of([&] { program.run(); }), program.options.output.string()));
  CHECK_FALSE(contains(program.said.str(), "written to"));
}

TEST_CASE("train and test: missing files in the folder at the end are an error") {
  Program program;
  program.options.train.epochs = 1;
  std::ostringstream json;
  program.options.json = &json;
  program.run();
  program.options.resume = true;
  program.options.train.epochs = 2;
  program.run();
  const double first = program.events("trained")[0].at("seconds"), both = program.events("trained")[1].at("seconds");
  CHECK(both > first);  // of both parts
  std::filesystem::remove(program.options.output / "tokenizer.merges.txt");
  CHECK(contains(error_of([&] { read_run_config(program.options.output); }), "tokenizer.merges.txt"));
}

TEST_CASE("train and test: warns that the validation text chose the model if there is no test text") {
  Program program;
  program.text.test = program.text.validation;
  program.run();
  CHECK(contains(program.said.str(),
                 "on 2 sentences of the validation text, which also selected the model (use --test-source"));
  CHECK_FALSE(contains(program.said.str(), "unseen"));
  CHECK(program.events("test")[0].at("text") == "validation");
  CHECK(contains(read_file(program.options.output / "report.html"), "BLEU of the validation text</th>"));
}

TEST_CASE("train and test: a corpus keeps its folder even with --overwrite") {
  Program program;
  make_folder(program.options.output);
  write_file(program.options.output / "corpus.json", "{}");
  program.options.overwrite = true;
  CHECK(contains(error_of([&] { run_to_resume(program.options); }), "contains shards (corpus.json)"));
  CHECK_FALSE(run_to_resume(program.options, false).has_value());  // the first rank's to judge
}

TEST_CASE("train and test: BLEU can choose the best model and truncated test sentences are reported") {
  Program program;
  program.options.train.best_by = BestBy::score;
  program.options.text.truncate = 4;
  program.run();
  const auto validations = program.events("validation");
  REQUIRE(validations.size() == 2);
  CHECK(validations[0].contains("score"));
  CHECK(contains(program.said.str(), "2 sentences of the test, source or target, exceed 3 tokens"));
}
