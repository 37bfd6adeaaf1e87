#include "job.hpp"

#include <charconv>
#include <set>

#include "attn/models/recurrent_shape.hpp"
#include "attn/optim/schedules.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/text/plain_words.hpp"
#include "attn/train/tensorboard.hpp"
#include "common/begin_run.hpp"
#include "common/commit.hpp"
#include "common/draw_attention.hpp"
#include "common/earlier_run.hpp"
#include "common/log_summary.hpp"
#include "common/stop_signal.hpp"

using namespace attn;
using nlohmann::json;

namespace {

using Translations = std::vector<std::vector<std::string>>;  // one list per test set

/// Scores the translations of the best epoch and of the last one. Writes those of the best epoch, and outcome.json.
void finish(const Job& job, const AnyModel& model, const Metadata& settings, const Translations& best,
            const Translations& last) {
  const Experiment& experiment = job.options.experiment;
  const LogSummary log = read_log(job.folder() / "log.jsonl");
  json tests;
  std::vector<tensorboard::Scalar> bleu;
  std::string line = job.name() + ": perplexity " + format_decimals(std::exp(log.best), 2);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const papers::TestSet& test = job.corpus.tests[i];
    write_lines(job.folder() / ("translations." + test.name + ".txt"), best[i]);
    const Scores scores = experiment.score(best[i], test.text.target, experiment.recipe.limit);
    const Scores later = experiment.score(last[i], test.text.target, experiment.recipe.limit);
    tests[test.name] = {{"sentences", best[i].size()},
                        {"bleu", scores.paper},
                        {"sacrebleu", scores.sacrebleu},
                        {"last_bleu", later.paper},
                        {"last_sacrebleu", later.sacrebleu}};
    bleu.push_back({"test/bleu_" + test.name, scores.paper});
    line += ", " + test.title + " BLEU " + format_decimals(scores.paper, 2) + " (sacreBLEU " +
            format_decimals(scores.sacrebleu, 2) + "), of the last epoch " + format_decimals(later.paper, 2);
  }
  TensorBoard(job.folder(), log.steps).write(log.steps, bleu);
  json outcome = figures(log);
  outcome.update({{"experiment", experiment.name},
                  {"row", job.row.name},
                  {"seed", job.seed},
                  {"parameters", model.parameters()},
                  {"device", model.device()},
                  {"tests", tests},
                  {"settings", settings}});
  write_file(job.folder() / "outcome.json", outcome.dump(2) + "\n");
  job.progress.print(line);
}

/// Converts the recipe to the library's settings.
TrainingRun training_run(const Job& job, const Metadata& settings) {
  const Recipe& recipe = job.options.experiment.recipe;
  TrainingRun run{
      .folder = job.folder(),
      .training = job.corpus.training,
      .validation = job.corpus.validation,
      .special_tokens = special_tokens_of(job.corpus.source, job.corpus.target),
      .batches = recipe.batches,
      .validation_batches = {.size = std::max<Index>(recipe.batches.size, 100), .order = BatchOrder::pooled},
      .adam = recipe.adam,
      .train = recipe.train,
      .schedule = [rate = recipe.rate](Index, Index) { return ConstantRate{rate}; },
      .title = job.row.name + ", seed " + std::to_string(job.seed),
      .metadata = settings,
      .resume = job.options.resume && job.begun(),
      .print = [&job](const std::string& text) { job.progress.print(job.name() + ": " + text); },
      .progress = [&job](Index step,
                         Index all) { return std::make_unique<RunProgress>(job.progress, job.name(), step, all); }};
  run.batches.seed = run.train.seed = job.seed;
  run.train.stop = [] { return stop_signal() != 0; };
  if (const Index batches = recipe.train.validate_every; batches > 0) {  // limits steps, not passes over the text
    const Index all = recipe.train.epochs * batches;
    run.train.steps = recipe.train.steps > 0 ? std::min(recipe.train.steps, all) : all;
    run.train.epochs = run.train.steps;  // an epoch has a step or more
  }
  return run;
}

/// The contents of model.json.
RunConfig run_config(const Job& job) {
  const auto& [name, recipe, rows, paper_bleu, score] = job.options.experiment;
  const papers::EuroparlCorpus& corpus = job.corpus;
  const bool plain = name == "attention", recurrent = is_recurrent(job.row.model);
  const auto tokenizer = [&](const WordVocabulary& words, const std::string& language) -> AnyTokenizer {
    if (!plain) return words;
    return PlainTokenizer(words, language == "en" ? Language::english : Language::german);
  };
  RunConfig config{.model = {.name = job.row.model,
                             .source_vocabulary = corpus.source.padded_size(),
                             .target_vocabulary = corpus.target.padded_size(),
                             .dropout = recurrent ? (plain ? 0 : 0.25) : 0.1,
                             .attention_dropout = recurrent ? 0 : 0.2,
                             .activation_dropout = recurrent ? 0 : 0.1},
                   .source = tokenizer(corpus.source, corpus.source_language),
                   .target = tokenizer(corpus.target, corpus.target_language),
                   .source_language = corpus.source_language,
                   .target_language = corpus.target_language,
                   .truncate = keep_all_tokens,
                   .limit = recipe.limit,
                   .suppress_unknown = !recipe.unknown,
                   .settings = recipe.settings(),
                   .seed = job.seed,
                   .commit = attn::program_commit(),
                   .about = {{"experiment", name}, {"row", job.row.name}, {"title", job.row.title}}};
  config.settings.insert({{"experiment", name},
                          {"row", job.row.name},
                          {"seed", std::to_string(job.seed)},
                          {"source.hash", std::to_string(corpus.source.hash())},
                          {"target.hash", std::to_string(corpus.target.hash())},
                          {"training text", std::to_string(content_hash(corpus.training))},
                          {"validation text", std::to_string(content_hash(corpus.validation))}});
  return config;
}

/// The seeds of all runs in a row's folder, sorted.
std::set<std::uint64_t> seeds_in(const std::filesystem::path& folder) {
  std::set<std::uint64_t> seeds;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t seed = 0;
    if (!is_numbered(name, "seed", "")) continue;
    std::from_chars(name.data() + 4, name.data() + name.size(), seed);
    seeds.insert(seed);
  }
  return seeds;
}

}  // namespace

Metadata settings_of(const Job& job) { return run_config(job).settings; }

void run(const Job& job) {
  RunConfig config = run_config(job);
  if (job.options.resume && job.finished() &&
      different_setting(read_run_config(job.folder()).settings, config.settings).empty())
    return;
  make_folder(job.folder());
  DeviceOptions device = job.options.device;
  device.threads = job.threads;
  const TrainingRun training = training_run(job, config.settings);
  const std::shared_ptr<AnyModel> model = begin_run(job.folder(), config, device, training.resume, may_change);
  const TrainingOutcome outcome = model->train(training);
  if (stop_signal() != 0) return;

  config.source = job.corpus.source;  // the test texts are already split into words
  config.target = job.corpus.target;
  const FolderTranslator translator(config, model);
  const auto translate_all = [&] {
    Translations translations;
    for (const papers::TestSet& test : job.corpus.tests) translations.push_back(translator(test.text.source));
    return translations;
  };
  const Translations last = translate_all();
  model->load(SafetensorsFile(job.folder() / "model.safetensors"));
  const Translations best = outcome.state.stale == 0 ? last : translate_all();  // the last epoch is the best
  if (job.options.maps > 0) {
    std::vector<std::string> lines = job.corpus.tests[0].text.source;
    lines.resize(std::min(lines.size(), static_cast<std::size_t>(job.options.maps)));
    draw_attention(translator, lines, job.folder() / "maps");
  }
  finish(job, *model, config.settings, best, last);
}

void require_no_earlier_runs(const Options& options) {
  if (options.resume || options.overwrite) return;
  for (const Row& row : options.experiment.rows)
    for (const std::uint64_t seed : options.seeds) require_no_earlier_run(options.folder(row, seed));
}

std::vector<Job> runs_beside(const std::vector<Job>& jobs) {
  const Job& first = jobs[0];
  std::vector<Job> others;
  for (const Row& row : experiment(first.options.experiment.name).rows)
    for (const std::uint64_t seed : seeds_in(first.options.group() / row.name)) {
      const Job other{first.options, first.corpus, first.progress, row, seed, first.threads};
      if (other.finished() && std::ranges::find(jobs, other.name(), &Job::name) == jobs.end()) others.push_back(other);
    }
  return others;
}

void prepare_folder(const std::vector<Job>& jobs, const std::vector<Job>& others) {
  for (const Job& job : jobs)
    if (job.options.resume && (job.begun() || job.finished()))
      check_same_settings(job.folder(), read_run_config(job.folder()).settings, settings_of(job),
                          job.begun() ? may_change : std::vector<std::string>{});
  for (const Job& other : others) {
    const std::string difference = different_setting(read_run_config(other.folder()).settings, settings_of(other));
    require(difference.empty(), other.folder().string(), ", a run of the same table, was trained with ", difference,
            ". Use its options, or another folder (--output).");
  }
  // Clears all runs before the first one starts, so that --resume works after an interruption.
  for (const Job& job : jobs)
    if (job.options.overwrite) clear_run(job.folder(), false);
}
