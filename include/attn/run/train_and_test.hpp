#pragma once
#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "attn/metrics/bleu.hpp"
#include "attn/parallel/share_lines.hpp"
#include "attn/run/begin_run.hpp"
#include "attn/run/draw_attention.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/run_report.hpp"
#include "attn/run/score_test.hpp"
#include "attn/run/training_settings.hpp"
#include "attn/run/watch_samples.hpp"
#include "attn/train/log_events.hpp"

namespace attn {

namespace detail {

/// Attention maps of the first two sentences that are short enough for a screen.
inline void draw_first_maps(const std::filesystem::path& folder, const std::vector<std::string>& lines,
                            const FolderTranslator& translate) {
  std::vector<std::string> some;
  for (const std::string& line : lines)
    if (some.size() < 2 && line.size() <= 100) some.push_back(line);
  if (!some.empty()) draw_attention(translate, some, folder / "maps");
}

/// Of a run that began with the weights of another, and whose folder has those still.
inline void say_if_never_better(const TrainingOptions& options, std::ostream& out) {
  Index best = -1;
  for (const auto& [step, event] : read_log_events(options.output / "log.jsonl").validations)
    if (event.value("best", false)) best = step;
  if (best == 0)
    out << "no validation was better than that of the weights it started from"
        << (options.average_best > 0 ? "" : ": they are the model") << "\n";
}

/// BLEU of translations of the first 1,000 sentences.
inline double quick_bleu(const ParallelText& text, const FolderTranslator& translate, Communicator& ranks) {
  const auto some = [](std::vector<std::string> lines) {
    lines.resize(std::min<std::size_t>(lines.size(), 1000));
    return lines;
  };
  return corpus_bleu(share_lines(ranks, some(text.source), translate), some(text.target)).score;
}

}  // namespace detail

/// Trains the options' model in their folder, then translates and scores the test with its best weights and draws what a
/// report shows. It goes on with the folder's run if the options say so; else it begins with the weights of their start_from,
/// if any. A stop signal ends the training so that it can go on: false; later ones end the program at once. All ranks call it, and
/// the first one writes.
inline bool train_and_test(const TrainingOptions& options, const TrainingText& text, const TrainingCorpus& corpus,
                           RunCard card, Communicator& ranks, std::ostream& out) {
  const std::shared_ptr<AnyModel> model =
      begin_run(options.output, card, options.device, options.resume, {"epochs", "patience", "validate-every", "test-beam"},
                ranks.leads(), options.freeze);
  if (!options.start_from.empty()) model->load(options.start_from / "model.safetensors");

  TrainingRun training = training_run(options, corpus, card.settings, out);
  training.ranks = &ranks;
  training.train.validate_first = !options.start_from.empty();
  training.begin = watch_stop_signals;  // before that a signal ends the program at once: nothing is lost
  FolderTranslator translate(card, model);
  if (options.validate_with == "bleu")
    training.score = [&](AnyModel&) { return detail::quick_bleu(text.validation, translate, ranks); };
  WatchSamples samples(text.validation, translate);
  samples.watch(training);
  const TrainingOutcome outcome = model->train(training);
  end_at_stop_signals();

  const EventLog log{options.output, options.json};
  if (ranks.leads()) {
    for (const nlohmann::json& event : samples.events()) log.add(event);
    log.add({{"event", "trained"}, {"step", outcome.state.step}, {"seconds", outcome.seconds}});
    if (card.settings.contains("start-from")) detail::say_if_never_better(options, out);
  }
  out << "trained for " << format_duration(outcome.seconds) << std::endl;
  int asked = 0;  // one rank's signal stops all of them
  for (const std::string& signal : ranks.gather(std::to_string(stop_signal()))) asked = std::max(asked, std::stoi(signal));
  if (asked != 0) {
    stop_signal() = asked;
    return false;
  }
  model->load(options.output / "model.safetensors");
  if (options.test_beam > 1) translate.options.search = SearchOptions{.beam = options.test_beam};
  const std::vector<std::string> translations = share_lines(ranks, text.test.source, translate);
  if (!ranks.leads()) return true;
  score_test(log, text.test, translate, translations, outcome.state.step, out);
  detail::draw_first_maps(options.output, text.test.source, translate);
  write_run_report(options.output / "report.html", {options.output});
  return true;
}

}  // namespace attn
