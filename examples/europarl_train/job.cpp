#include "job.hpp"

#include "attn/text/word_vocabulary_files.hpp"
#include "attn/version.hpp"
#include "log_summary.hpp"
#include "run_folder.hpp"
#include "scores.hpp"

using namespace attn;
using nlohmann::json;

BatchOptions training_batches(const Job& job) {
  const Recipe& recipe = job.options.recipe;
  const Index all = job.corpus.training.size() / recipe.batch + 1;
  return {.size = recipe.batch, .order = BatchOrder::pooled, .pool = recipe.pool > 0 ? recipe.pool : all, .seed = job.seed};
}

BatchOptions validation_batches(const Job& job) {
  return {.size = std::max<Index>(job.options.recipe.batch, 100), .order = BatchOrder::pooled};
}

AdamOptions adam_options(const Job& job) {
  const Recipe& recipe = job.options.recipe;
  return {.epsilon = recipe.epsilon, .amsgrad = recipe.amsgrad, .clip_norm = recipe.clip};
}

TrainOptions train_options(const Job& job) {
  const Recipe& recipe = job.options.recipe;
  return {.epochs = recipe.batches > 0 ? std::numeric_limits<Index>::max() : recipe.epochs,  // else the steps end it
          .steps = most_steps(job, 0),
          .mean = BatchUnit::sentences,  // as both papers do: it decides what is clipped
          .seed = job.seed,
          .validate_every = recipe.batches,
          .patience = recipe.patience,
          .stop = [] { return interrupted.load(); }};
}

Index most_steps(const Job& job, Index batches_per_epoch) {
  const Recipe& recipe = job.options.recipe;
  const Index all = recipe.epochs * (recipe.batches > 0 ? recipe.batches : batches_per_epoch);
  return recipe.steps > 0 && (all == 0 || recipe.steps < all) ? recipe.steps : all;
}

Metadata describe(const Job& job) {
  const Recipe& recipe = job.options.recipe;
  const auto text = [](double value) { return json(value).dump(); };
  return {{"attn.version", ATTN_VERSION},
          {"experiment", job.options.experiment},
          {"row", job.row.name},
          {"source.hash", std::to_string(job.corpus.source.hash())},
          {"target.hash", std::to_string(job.corpus.target.hash())},
          {"training_pairs", std::to_string(job.corpus.training.size())},
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
}

void write_model_card(const Job& job, Index parameters) {
  const Corpus& corpus = job.corpus;
  save_word_vocabulary(corpus.source, job.folder() / "source.vocab");
  save_word_vocabulary(corpus.target, job.folder() / "target.vocab");
  const bool plain = job.options.experiment == "attention";
  const json card{{"experiment", job.options.experiment},
                  {"row", job.row.name},
                  {"title", job.row.title},
                  {"model", job.row.model},
                  {"parameters", parameters},
                  {"source", {{"language", corpus.source_language}, {"vocabulary", "source.vocab"}}},
                  {"target", {{"language", corpus.target_language}, {"vocabulary", "target.vocab"}}},
                  {"source_vocabulary", corpus.source.padded_size()},
                  {"target_vocabulary", corpus.target.padded_size()},
                  {"words", plain ? "plain" : "spaced"},  // plain: papers/plain_words.hpp; spaced: tokenised, small letters
                  {"limit", job.options.recipe.limit},
                  {"says_unknown", job.options.recipe.says_unknown},
                  {"settings", describe(job)}};
  write_file(job.folder() / "model.json", card.dump(2) + "\n");
}

void finish(const Job& job, Index parameters, const std::string& device, const Translations& best,
            const Translations& last) {
  const LogSummary log = read_log(job.folder() / "log.jsonl");
  json tests;
  std::string line = job.name() + ": perplexity " + rounded(std::exp(log.best), 2);
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
    line += ", " + test.title + " BLEU " + rounded(scores.paper, 2) + " (sacreBLEU " + rounded(scores.sacrebleu, 2) +
            "), of the last epoch " + rounded(later.paper, 2);
  }
  const json outcome{{"experiment", job.options.experiment},
                     {"row", job.row.name},
                     {"seed", job.seed},
                     {"parameters", parameters},
                     {"device", device},
                     {"steps", log.steps},
                     {"epochs", log.validations.points.size()},
                     {"seconds", log.seconds},
                     {"milliseconds_per_step", log.steps > 0 ? 1000 * log.seconds / static_cast<double>(log.steps) : 0},
                     {"perplexity", std::exp(log.best)},
                     {"last_perplexity", std::exp(log.last)},
                     {"training_loss", log.training_loss},
                     {"tests", tests},
                     {"settings", describe(job)}};
  write_file(job.folder() / "outcome.json", outcome.dump(2) + "\n");
  job.board.say(line);
}
