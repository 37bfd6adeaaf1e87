#include "training.hpp"

#include <iostream>

#include "attn/metrics/bleu.hpp"
#include "attn/parallel/share_lines.hpp"
#include "attn/run/begin_run.hpp"
#include "attn/run/draw_attention.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/run_report.hpp"
#include "attn/run/score_pairs.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/train/log_events.hpp"
#include "attn/train/progress.hpp"
#include "attn/train/tensorboard.hpp"
#include "papers/commit.hpp"
#include "samples.hpp"
#include "settings.hpp"

using namespace attn;

namespace {

/// Attention maps of the first two sentences that are short enough for a screen.
void draw_maps(const Options& options, const std::vector<std::string>& lines, const FolderTranslator& translate) {
  std::vector<std::string> some;
  for (const std::string& line : lines)
    if (some.size() < 2 && line.size() <= 100) some.push_back(line);
  if (!some.empty()) draw_attention(translate, some, options.output / "maps");
}

/// Of a run that began with the weights of another, and whose folder has those still.
void say_if_never_better(const Options& options) {
  Index best = -1;
  for (const auto& [step, event] : read_log_events(options.output / "log.jsonl").validations)
    if (event.value("best", false)) best = step;
  if (best == 0)
    std::cout << "no validation was better than that of the weights it started from"
              << (options.average_best > 0 ? "" : ": they are the model") << "\n";
}

void score(const Options& options, const ParallelText& test, const FolderTranslator& translate,
           const std::vector<std::string>& translations, Index step) {
  const Bleu bleu = corpus_bleu(translations, test.target);
  write_lines(options.output / "translations.txt", translations);
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, translations.size()));
  note(options, samples_event(test, {translations.begin(), translations.begin() + shown}, step));
  const std::vector<PairScore> pairs = score_pairs(translate, test);
  const double perplexity = perplexity_of(pairs).value();
  Index cut = 0;
  for (const PairScore& pair : pairs) cut += pair.cut;
  note(options, {{"event", "test"},
                 {"sentences", translations.size()},
                 {"beam", options.test_beam},
                 {"bleu", bleu.score},
                 {"signature", bleu.signature()},
                 {"perplexity", perplexity}});
  TensorBoard(options.output, step).write(step, {{"test/bleu", bleu.score}, {"test/perplexity", perplexity}});
  std::cout << "\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(4, translations.size()); ++i)
    std::cout << "  source       " << test.source[i] << "\n  translation  " << translations[i] << "\n  reference    "
              << test.target[i] << "\n\n";
  if (cut > 0)
    std::cout << format_count(cut) << " sentences of the test, of both languages, have more than " << options.truncate - 1
              << " tokens: what comes after is neither read nor counted in the perplexity (--truncate)\n";
  std::cout << "on " << format_count(static_cast<Index>(translations.size())) << " unseen sentences, "
            << (options.test_beam > 1 ? "with a beam of " + std::to_string(options.test_beam) : "greedy") << ": "
            << bleu.to_string() << "\n"
            << bleu.signature() << "\nperplexity " << format_decimals(perplexity, 2) << "\nwritten to "
            << options.output.string() << "\n";
}

}  // namespace

bool finished(const std::filesystem::path& folder) {
  return has_run(folder) && std::filesystem::exists(folder / "report.html");
}

void train(const Options& options, const Texts& texts, const Corpus& corpus, const std::optional<RunCard>& before,
           const std::optional<RunCard>& start, Communicator& ranks) {
  RunCard card{model_spec(options, corpus), corpus.tokenizer, corpus.tokenizer};
  card.truncate = options.truncate - 1;
  card.limit = options.limit;
  card.settings = settings_of(options, corpus);
  card.seed = options.seed;
  card.commit = papers::commit();
  card.about = {{"command", options.command}, {"test", options.test_source.filename().string()}};
  if (start) card.settings["start-from"] = options.start_from.string();
  if (before && before->settings.contains("start-from")) card.settings["start-from"] = before->settings.at("start-from");
  const std::shared_ptr<AnyModel> model = begin_run(options.output, card, options.device, before.has_value(),
                                                    {"epochs", "patience", "validate-every", "test-beam"}, ranks.leads());

  if (start) model->load(options.start_from / "model.safetensors");
  TrainingRun training = training_run(options, corpus, card.settings);
  training.ranks = &ranks;
  training.train.validate_first = start.has_value();
  training.begin = watch_stop_signals;  // before that a signal ends the program at once: nothing is lost
  FolderTranslator translate(card, model);
  if (options.validate_with == "bleu")
    training.score = [&](AnyModel&) {
      const auto some = [](std::vector<std::string> lines) {
        lines.resize(std::min<std::size_t>(lines.size(), 1000));
        return lines;
      };
      return corpus_bleu(share_lines(ranks, some(texts.validation.source), translate), some(texts.validation.target)).score;
    };
  WatchSamples samples(texts.validation, translate);
  samples.watch(training);
  const TrainingOutcome outcome = model->train(training);
  if (ranks.leads()) {
    for (const nlohmann::json& event : samples.events()) note(options, event);
    note(options, {{"event", "trained"}, {"step", outcome.state.step}, {"seconds", outcome.seconds}});
  }
  if (ranks.leads() && card.settings.contains("start-from")) say_if_never_better(options);
  std::cout << "trained for " << format_duration(outcome.seconds) << "\n";
  if (ranks.any(stop_signal() != 0)) return;
  model->load(options.output / "model.safetensors");
  if (options.test_beam > 1) translate.options.search = SearchOptions{.beam = options.test_beam};
  const std::vector<std::string> translations = share_lines(ranks, texts.test.source, translate);
  if (!ranks.leads()) return;
  score(options, texts.test, translate, translations, outcome.state.step);
  draw_maps(options, texts.test.source, translate);
  write_run_report(options.output / "report.html", {options.output});
}
