#include "job.hpp"

#include <algorithm>

#include "attn/decode/attention_folder.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/train/log_summary.hpp"
#include "command_line.hpp"
#include "papers/models.hpp"
#include "papers/plain_tokenizer.hpp"
#include "scores.hpp"

using namespace attn;
using nlohmann::json;

namespace {

using Translations = std::vector<std::vector<std::string>>;  // of each test

/// Draws where the model looked in the first sentences of the first test.
void draw_maps(const Job& job, const FolderTranslator& translator) {
  const RunCard& card = translator.card();
  AttentionFolder maps(job.folder() / "maps", card.source, card.target);
  std::vector<std::string> lines = job.corpus.tests[0].text.source;
  lines.resize(std::min(lines.size(), static_cast<std::size_t>(job.options.maps)));
  Index line = 0;
  for (const Translation& one : translator.translate(lines))
    maps.add(++line, one.source, one.target, translator.attention_maps(one.source, one.target));
  maps.finish();
}

void write_lines(const std::filesystem::path& path, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  write_file(path, text);
}

/// Scores the translations by the weights of the best epoch and by those of the last; writes the former and outcome.json.
void finish(const Job& job, const AnyModel& model, const Translations& best, const Translations& last) {
  const LogSummary log = read_log(job.folder() / "log.jsonl");
  json tests;
  std::string line = job.name() + ": perplexity " + format_decimals(std::exp(log.best), 2);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const TestSet& test = job.corpus.tests[i];
    write_lines(job.folder() / ("translations." + test.name + ".txt"), best[i]);
    const Scores scores = score(job.options, best[i], test.text.target);
    const Scores later = score(job.options, last[i], test.text.target);
    tests[test.name] = {{"sentences", best[i].size()},
                        {"bleu", scores.paper},
                        {"sacrebleu", scores.sacrebleu},
                        {"last_bleu", later.paper},
                        {"last_sacrebleu", later.sacrebleu}};
    line += ", " + test.title + " BLEU " + format_decimals(scores.paper, 2) + " (sacreBLEU " +
            format_decimals(scores.sacrebleu, 2) + "), of the last epoch " + format_decimals(later.paper, 2);
  }
  const json outcome{{"experiment", job.options.experiment},
                     {"row", job.row.name},
                     {"seed", job.seed},
                     {"parameters", model.parameters()},
                     {"device", model.device()},
                     {"steps", log.steps},
                     {"epochs", log.validations.points.size()},
                     {"seconds", log.seconds},
                     {"milliseconds_per_step", log.steps > 0 ? 1000 * log.seconds / static_cast<double>(log.steps) : 0},
                     {"perplexity", std::exp(log.best)},
                     {"last_perplexity", std::exp(log.last)},
                     {"training_loss", log.training_loss},
                     {"tests", tests},
                     {"settings", run_card(job).settings}};
  write_file(job.folder() / "outcome.json", outcome.dump(2) + "\n");
  job.progress.say(line);
}

}  // namespace

TrainingRun training_run(const Job& job, const Metadata& settings) {
  const Recipe& recipe = job.options.recipe;
  const Index pool = recipe.pool > 0 ? recipe.pool : job.corpus.training.size() / recipe.batch + 1;
  Index steps = recipe.epochs * recipe.batches;
  if (recipe.steps > 0 && (steps == 0 || recipe.steps < steps)) steps = recipe.steps;
  return {.folder = job.folder(),
          .training = job.corpus.training,
          .validation = job.corpus.validation,
          .special_tokens = special_tokens_of(job.corpus.source, job.corpus.target),
          .batches = {.size = recipe.batch, .order = BatchOrder::pooled, .pool = pool, .seed = job.seed},
          .validation_batches = {.size = std::max<Index>(recipe.batch, 100), .order = BatchOrder::pooled},
          .adam = {.epsilon = recipe.epsilon, .amsgrad = recipe.amsgrad, .clip_norm = recipe.clip},
          .train = {.epochs = recipe.batches > 0 ? std::numeric_limits<Index>::max() : recipe.epochs,  // else steps end it
                    .steps = steps,
                    .mean = BatchUnit::sentences,  // as both papers do: it decides what is clipped
                    .seed = job.seed,
                    .validate_every = recipe.batches,
                    .patience = recipe.patience,
                    .stop = [] { return stop_signal() != 0; }},
          .schedule = [rate = recipe.rate](Index, Index) { return [rate](Index) { return rate; }; },
          .title = job.row.name + ", seed " + std::to_string(job.seed),
          .metadata = settings,
          .resume = job.options.resume && job.begun(),
          .say = [&job](const std::string& text) { job.progress.say(job.name() + ": " + text); },
          .progress = [&job](Index step,
                             Index all) { return std::make_unique<RunProgress>(job.progress, job.name(), step, all); }};
}

RunCard run_card(const Job& job) {
  const Recipe& recipe = job.options.recipe;
  const Corpus& corpus = job.corpus;
  const bool plain = job.options.experiment == "attention";
  const auto tokenizer = [&](const WordVocabulary& words, const std::string& language) -> AnyTokenizer {
    if (!plain) return words;
    return papers::PlainTokenizer(words, language == "en" ? papers::Language::english : papers::Language::german);
  };
  const bool recurrent = papers::is_recurrent(job.row.model);
  RunCard card{{.name = job.row.model,
                .source_vocabulary = corpus.source.padded_size(),
                .target_vocabulary = corpus.target.padded_size(),
                .dropout = plain       ? 0
                           : recurrent ? 0.25
                                       : 0.1,
                .attention_dropout = recurrent ? 0 : 0.2,
                .activation_dropout = recurrent ? 0 : 0.1},
               tokenizer(corpus.source, corpus.source_language),
               tokenizer(corpus.target, corpus.target_language)};
  const auto text = [](double value) { return json(value).dump(); };
  card.source_language = corpus.source_language;
  card.target_language = corpus.target_language;
  card.truncate = keep_all_tokens;
  card.limit = recipe.limit;
  card.suppress_unknown = !recipe.says_unknown;
  card.seed = job.seed;
  card.commit = ATTN_COMMIT;
  card.about = {{"experiment", job.options.experiment}, {"row", job.row.name}, {"title", job.row.title}};
  card.settings = {{"experiment", job.options.experiment},
                   {"row", job.row.name},
                   {"source.hash", std::to_string(corpus.source.hash())},
                   {"target.hash", std::to_string(corpus.target.hash())},
                   {"training_pairs", std::to_string(corpus.training.size())},
                   {"training text", std::to_string(content_hash(corpus.training))},
                   {"seed", std::to_string(job.seed)},
                   {"epochs", std::to_string(recipe.epochs)},
                   {"epoch_batches", std::to_string(recipe.batches)},
                   {"patience", std::to_string(recipe.patience)},
                   {"batch", std::to_string(recipe.batch)},
                   {"pool", std::to_string(recipe.pool)},
                   {"rate", text(recipe.rate)},
                   {"clip", text(recipe.clip)},
                   {"epsilon", text(recipe.epsilon)},
                   {"amsgrad", recipe.amsgrad ? "yes" : "no"},
                   {"limit", std::to_string(recipe.limit)},
                   {"says_unknown", recipe.says_unknown ? "yes" : "no"}};
  return card;
}

void run(const Job& job) {
  DeviceOptions device = job.options.device;
  device.threads = job.threads;
  device.plans = job.group();
  RunCard card = run_card(job);
  const std::shared_ptr<AnyModel> model = models().make(card.model, device, job.seed);
  card.shape = model->shape();
  card.device = model->device();
  const TrainingRun training = training_run(job, card.settings);
  if (training.resume)
    check_same_settings(job.folder(), read_run_card(job.folder()).settings, card.settings, {"epochs", "patience"});
  write_run_card(job.folder(), card);
  const TrainingOutcome outcome = model->train(training);
  if (stop_signal() != 0) return;

  card.source = job.corpus.source;  // the tests are words with spaces between them already
  card.target = job.corpus.target;
  const FolderTranslator translator(card, model);
  const auto translate_all = [&] {
    Translations translations;
    for (const TestSet& test : job.corpus.tests) translations.push_back(translator(test.text.source));
    return translations;
  };
  const Translations last = translate_all();
  model->load(job.folder() / "model.safetensors");
  const Translations best = outcome.state.stale == 0 ? last : translate_all();  // the last may be the best
  if (job.options.maps > 0) draw_maps(job, translator);
  finish(job, *model, best, last);
}
