#include "common/training_command_line.hpp"

#include <doctest/doctest.h>

#include "attn/core/file.hpp"
#include "common/training_recipe.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

/// Reads a command line as a program would; what is wrong with it, or "".
std::string read(TrainingOptions& options, const std::string& words, const std::vector<std::string>& more = {}) {
  CLI::App app("test");
  add_text_options(app, options.text);
  add_tokenizer_options(app, options.text);
  add_model_name(app, options, more);
  add_model_options(app, options);
  add_training_options(app, options);
  add_result_options(app, options);
  try {
    app.parse(words, false);
    check_training_options(app, options);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  return "";
}

/// Options that the recipe alone sets.
TrainingOptions applied(const TrainingRecipe& recipe) {
  TrainingOptions options;
  apply_recipe(options, recipe);
  return options;
}

std::string wrong(const std::string& words, const std::vector<std::string>& more = {}) {
  TrainingOptions options;
  return read(options, words, more);
}

}  // namespace

TEST_CASE("training command line: options are parsed and explicit ones recorded") {
  TrainingOptions options;
  REQUIRE(read(options, "--epochs 3 --not-shared --truncate 100 --model linformer32 --threads 1 --limit 9") == "");
  CHECK((options.train.epochs == 3 && !options.shared && options.text.truncate == 100 && options.model == "linformer32"));
  CHECK((options.device.threads == 1 && options.limit == 9));
  CHECK(options.given == std::set<std::string>{"epochs", "shared", "truncate", "model", "threads", "limit"});
}

TEST_CASE("training command line: settings cover model and training and the summary lists explicit ones") {
  TrainingOptions options;
  REQUIRE(read(options, "--epochs 3 --not-shared --amsgrad --limit 9 --log-gradients") == "");
  CHECK((options.train.gradient_norms && !TrainingOptions().train.gradient_norms));
  const Metadata settings = settings_of(options);
  CHECK(settings.at("epochs") == "3");
  CHECK(settings.at("shared") == "false");
  CHECK(settings.at("model") == "transformer");
  CHECK(settings.at("truncate") == "256");
  CHECK(settings.at("test-beam") == "1");
  for (const char* name : {"limit", "threads", "output", "train-source"}) CHECK_FALSE(settings.contains(name));
  CHECK(describe(options) == "--shared=false --epochs 3 --amsgrad");
  options.suggested.insert("rate");
  options.schedule.rate = 0.5;
  CHECK(describe(options) == "--shared=false --epochs 3 --rate 0.5 --amsgrad");
}

TEST_CASE("training command line: --freeze can be repeated and is a setting") {
  TrainingOptions options;
  REQUIRE(read(options, "--freeze encoder --epochs 3 --freeze decoder.layers.*.norm") == "");
  CHECK(options.freeze == std::vector<std::string>{"encoder", "decoder.layers.*.norm"});
  CHECK(settings_of(options).at("freeze") == R"(["encoder","decoder.layers.*.norm"])");
  CHECK(settings_of({}).at("freeze") == "[]");
  CHECK(describe(options) == "--epochs 3 --freeze encoder --freeze decoder.layers.*.norm");
}

TEST_CASE("training command line: --mask-tokens is a setting from 0 to below 1") {
  TrainingOptions options;
  REQUIRE(read(options, "--mask-tokens 0.1") == "");
  CHECK(options.batches.mask_rate == 0.1);
  CHECK(settings_of(options).at("mask-tokens") == "0.1");
  CHECK(settings_of({}).at("mask-tokens") == "0.0");
  CHECK(describe(options) == "--mask-tokens 0.1");
  for (const std::string value : {"-0.1", "1", "1.5", "nan", "inf", "x"})
    CHECK(wrong("--mask-tokens " + value) == "--mask-tokens: '" + value + "' is not a number from 0 to 0.99");
}

TEST_CASE("training command line: lists a program's own models with those of the library") {
  TrainingOptions options;
  CHECK(read(options, "--model mine", {"mine"}) == "");
  CHECK(options.model_name() == "mine");
  CHECK(wrong("--model none", {"mine"}) ==
        "--model: 'none' is not one of\n  transformer\n  linformer32\n  linformer64\n  linformer128\n  mine");
  options = {};
  CHECK(read(options, "--model linformer64 --size base --norm pre") == "");
  CHECK(options.model_name() == "linformer64-base-pre");
}

TEST_CASE("training command line: explicit sizes override those of a preset") {
  TrainingOptions options;
  REQUIRE(read(options, "--size small --norm pre --layers 3+1 --width 192 --heads 4") == "");
  CHECK(options.model_name() == "transformer-pre");
  CHECK(options.shape() ==
        TransformerShape{.encoder_layers = 3, .decoder_layers = 1, .width = 192, .heads = 4, .inner = 768});
  options = {};
  REQUIRE(read(options, "--model linformer48 --size small --norm post") == "");
  CHECK(options.model_name() == "linformer48-small");
  CHECK_FALSE(options.shape().has_value());
  REQUIRE(read(options, "--inner 100") == "");
  CHECK(options.model_name() == "linformer");
  CHECK((options.shape()->linformer_k == 48 && options.shape()->inner == 100 && options.shape()->width == 128));
  options = {};
  REQUIRE(read(options, "--model seq2seq --width 96", {"seq2seq"}) == "");
  CHECK(options.model_name() == "seq2seq");
  CHECK(options.recurrent_shape() ==
        RecurrentShape{.embedding = 128, .width = 96, .encoder_layers = 2, .decoder_layers = 2});
  REQUIRE(read(options, "--model seq2seq --embedding 32 --layers 1+3", {"seq2seq"}) == "");
  CHECK(options.recurrent_shape() ==
        RecurrentShape{.embedding = 32, .width = 96, .encoder_layers = 1, .decoder_layers = 3});
  options = {};
  REQUIRE(read(options, "--model seq2seq", {"seq2seq"}) == "");
  CHECK_FALSE(options.recurrent_shape().has_value());
}

TEST_CASE("training command line: rejects conflicting options") {
  const TemporaryFolder folder;
  write_file(folder / "a", "a\n");
  const std::string file = (folder / "a").string(), there = folder.path().string();
  CHECK(wrong("--train-source " + file) == "--train-source and --train-target need the same number of files");
  CHECK(wrong("--shards " + there + " --vocabulary 300").starts_with("--shards conflicts with"));
  for (const std::string name : {"--valid-source", "--test-source", "--vocab"})
    CHECK(contains(wrong(name + " " + file), name + " and --"));
  CHECK(wrong("--batch 4096").starts_with("--batch 4096 requires --batch-unit tokens or --batch-unit sentences"));
  CHECK(wrong("--batch 4096 --batch-unit tokens") == "");
  CHECK(wrong("--tf32") == "--tf32 requires --precision float");
  CHECK(wrong("--model linformer32 --truncate 300") == "--truncate must be at most 256 for a Linformer");
  CHECK(wrong("--layers 3+").starts_with("--layers: not two numbers such as 3+3"));
  CHECK(wrong("--embedding 64") == "--embedding requires a recurrent model; set --width for the others");
  CHECK(contains(wrong("--model mine --width 64", {"mine"}), "require a model whose sizes"));
  CHECK(wrong("--width 100 --heads 3") == "--width 100 is not a multiple of --heads 3");
  CHECK(contains(wrong("--resume --overwrite"), "--resume conflicts with --overwrite"));
  CHECK(contains(wrong("--resume --start-from " + there), "--resume conflicts with --start-from"));
  CHECK(contains(wrong("--start-from " + there + " --vocab " + file + " --merges " + file), "the run has tokenizers"));
  CHECK(contains(wrong("--start-from " + there + " --vocabulary 500"), "the run has tokenizers"));
  for (const std::string& others :
       std::vector<std::string>{"--start-from " + there, "--shards " + there, "--vocab " + file + " --merges " + file})
    CHECK(contains(wrong(others + " --separate-vocabularies"), "--separate-vocabularies"));
  CHECK(contains(wrong("--separate-vocabularies --shared"), "--separate-vocabularies conflicts with --shared"));
  CHECK(wrong("--separate-vocabularies --not-shared") == "");
  CHECK(contains(wrong("--vocab " + file + " --merges " + file + " --vocabulary 500"),
                 "--vocabulary and --separate-vocabularies conflict with --vocab and --merges"));
  CHECK(contains(wrong("--norm none"), "--norm"));
}

TEST_CASE("training recipe: depends on the text size for options that are not given") {
  TrainingOptions options;
  REQUIRE(read(options, "--rate 0.5") == "");
  apply_recipe(options, recipe_for(15'000));
  CHECK((options.size == ModelSize::small && options.train.epochs == 40 && options.schedule.rate == 0.5 &&
         options.text.vocabulary == 4000 && options.norm == NormPosition::pre));
  CHECK(options.suggested.contains("epochs"));
  CHECK_FALSE(options.suggested.contains("rate"));
  CHECK((recipe_for(15'001).settings.at("size") == "medium" && recipe_for(15'000).settings.at("size") == "small"));
  CHECK((recipe_for(400'000).settings.at("vocabulary") == "16000" && recipe_for(100'000).settings.at("epochs") == "30"));
  CHECK(recipe_for(400'001).settings.at("size") == "base");
  CHECK(applied(best_of(recipe_for(5000))).test_beam == 8);
  CHECK(applied(best_of(recipe_for(5000))).train.epochs == 40);
  CHECK(applied(best_of(recipe_for(5000))).size == ModelSize::medium);
  for (const Index pairs : {4999, 56'000})  // the bundled corpus has its own, small model
    CHECK(applied(best_of(recipe_for(pairs).with("size=small"))).size == ModelSize::small);
  for (const Index pairs : {1, 200, 4999}) {  // enough steps to learn in, whatever a batch holds
    const TrainingOptions few = applied(recipe_for(pairs));
    CHECK((few.train.epochs * std::max<Index>(pairs, 100) > 190'000 && few.schedule.warmup < 1000 &&
           few.train.validate_every == 100));
  }
  TrainingOptions counted;
  REQUIRE(read(counted, "--epochs 3") == "");
  apply_recipe(counted, recipe_for(200));
  CHECK((counted.train.epochs == 3 && counted.train.validate_every == 0));
  const TrainingOptions best = applied(best_of(recipe_for(1'000'000)));
  CHECK((best.train.epochs == 12 && best.average_best == 4 && best.schedule.kind == ScheduleKind::warmup_cosine));
}

TEST_CASE("training recipe: settings are known options with valid values") {
  Metadata known = settings_of({});
  known["vocabulary"] = "";
  for (const Index pairs : {1, 5000, 20'000, 200'000, 500'000}) {
    const TrainingRecipe recipe = best_of(recipe_for(pairs));
    CHECK(recipe.settings.size() > 14);
    for (const auto& [name, value] : recipe.settings) CHECK_MESSAGE(known.contains(name), name);
    const Metadata settings = settings_of(applied(recipe));
    for (const auto& [name, value] : recipe.settings)
      if (name != "vocabulary") CHECK_MESSAGE(settings.at(name) == value, name);
  }
  const TrainingRecipe wrong = recipe_for(5000).with("norm=none");
  CHECK(error_of([&] { applied(wrong); }) == "a recipe: the setting norm cannot be 'none'");
  CHECK(error_of([&] { applied(wrong.with("norm=pre epochs=many")); }) == "a recipe: the setting epochs cannot be 'many'");
}

TEST_CASE("training command line: settings can be written and read back") {
  TrainingOptions options;
  REQUIRE(read(options,
               "--separate-vocabularies --not-shared --size big --norm pre --layers 3+1 --heads 4 --freeze a "
               "--freeze b --order shuffled --rate 0.1 --seed 9223372036854775807 --amsgrad") == "");
  TrainingOptions again;
  read_settings(again, settings_of(options), "");
  CHECK(settings_of(again) == settings_of(options));
  CHECK(settings_of(again) != settings_of({}));
}

TEST_CASE("training recipe: sets sizes for Linformers and custom models and batches in other units") {
  TrainingOptions linformer;
  REQUIRE(read(linformer, "--model linformer32 --batch-unit sentences") == "");
  apply_recipe(linformer, recipe_for(100'000));
  CHECK((linformer.size == ModelSize::medium && linformer.batches.size == 64));
  TrainingOptions own;
  REQUIRE(read(own, "--model mine --batch 8", {"mine"}) == "");
  apply_recipe(own, recipe_for(1000));
  CHECK_FALSE((own.suggested.contains("size") || own.suggested.contains("norm")));
  CHECK((own.batches.size == 8 && own.batches.unit == BatchUnit::sentences));
}
