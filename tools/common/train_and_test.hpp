#pragma once
#include <filesystem>
#include <ostream>

#include "attn/core/error.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/run_folder.hpp"
#include "common/begin_run.hpp"
#include "common/draw_attention.hpp"
#include "common/log_summary.hpp"
#include "common/run_report.hpp"
#include "common/score_test.hpp"
#include "common/training_settings.hpp"
#include "common/watch_samples.hpp"

namespace attn {

/// Splits the lines among the ranks; all ranks get every translation. A translation must be one line.
template <class Translate>
std::vector<std::string> share_lines(Communicator& ranks, const std::vector<std::string>& lines,
                                     const Translate& translate) {
  if (ranks.ranks() == 1) return translate(lines);
  const auto n = static_cast<std::size_t>(ranks.ranks());
  std::vector<std::string> mine;
  for (auto i = static_cast<std::size_t>(ranks.rank()); i < lines.size(); i += n) mine.push_back(lines[i]);
  std::string said;
  for (const std::string& line : translate(mine)) said += line + "\n";
  const std::vector<std::string> all = ranks.gather(said);
  std::vector<std::size_t> next(n);  // start of each rank's next line
  std::vector<std::string> translations;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t rank = i % n, end = all[rank].find('\n', next[rank]);
    require(end != std::string::npos, "rank ", rank, " on ", ranks.host(static_cast<Index>(rank)),
            " returned fewer translations than lines");
    translations.push_back(all[rank].substr(next[rank], end - next[rank]));
    next[rank] = end + 1;
  }
  return translations;
}

namespace detail {

/// Draws attention maps of the first two sentences short enough for a screen.
inline void draw_first_maps(const std::filesystem::path& folder, const std::vector<std::string>& lines,
                            const FolderTranslator& translate) {
  std::vector<std::string> some;
  for (const std::string& line : lines)
    if (some.size() < 2 && line.size() <= 100) some.push_back(line);
  if (!some.empty()) draw_attention(translate, some, folder / "maps");
}

/// Reports if a run that started from other weights never improved on them.
inline void report_if_never_better(const TrainingOptions& options, std::ostream& out) {
  Index best = -1;
  for (const auto& [step, event] : read_log_events(options.output / "log.jsonl").validations)
    if (event.value("best", false)) best = step;
  if (best == 0)
    out << "no validation improved on the initial weights" << (options.average_best > 0 ? "" : ": the model keeps them")
        << "\n";
}

/// BLEU on the first 1,000 sentences.
inline double quick_bleu(const ParallelText& text, const FolderTranslator& translate, Communicator& ranks) {
  const auto some = [](std::vector<std::string> lines) {
    lines.resize(std::min<std::size_t>(lines.size(), 1000));
    return lines;
  };
  return corpus_bleu(share_lines(ranks, some(text.source), translate), some(text.target)).score;
}

}  // namespace detail

/// Trains the model in the output folder, translates and scores the test text with the best weights, and writes the report.
/// Resumes the folder's run if requested; otherwise starts from `start_from` if set. Returns false if a signal stopped the
/// training; the run can then be resumed. Later signals end the program at once. All ranks call this; rank 0 writes.
inline bool train_and_test(const TrainingOptions& options, const TrainingText& text, const TrainingCorpus& corpus,
                           RunConfig config, Communicator& ranks, std::ostream& out) {
  const std::shared_ptr<AnyModel> model =
      begin_run(options.output, config, options.device, options.resume,
                {"epochs", "patience", "validate-every", "test-beam"}, ranks.leads(), options.freeze);
  if (!options.start_from.empty()) model->load(SafetensorsFile(options.start_from / "model.safetensors"));

  TrainingRun training = training_run(options, corpus, config.settings, out);
  training.ranks = &ranks;
  training.train.validate_first = !options.start_from.empty();
  training.begin = watch_stop_signals;  // earlier signals end the program at once; nothing is lost
  FolderTranslator translate(config, model);
  if (options.train.best_by == BestBy::score)
    training.score = [&](AnyModel&) { return detail::quick_bleu(text.validation, translate, ranks); };
  WatchSamples samples(text.validation, translate);
  samples.watch(training);
  const TrainingOutcome outcome = model->train(training);
  end_at_stop_signals();

  const EventLog log{options.output, options.json};
  if (ranks.leads()) {
    for (const nlohmann::json& event : samples.events()) log.add(event);
    log.add({{"event", "trained"}, {"step", outcome.state.step}, {"seconds", outcome.seconds}});
    if (config.settings.contains("start-from")) detail::report_if_never_better(options, out);
  }
  out << "trained for " << format_duration(outcome.seconds) << std::endl;
  int asked = 0;  // a signal on one rank stops all ranks
  for (const std::string& signal : ranks.gather(std::to_string(stop_signal()))) asked = std::max(asked, std::stoi(signal));
  if (asked != 0) {
    stop_signal() = asked;
    return false;
  }
  model->load(SafetensorsFile(options.output / "model.safetensors"));
  if (options.test_beam > 1) translate.options.search = SearchOptions{.beam = options.test_beam};
  const std::vector<std::string> translations = share_lines(ranks, text.test.source, translate);
  if (!ranks.leads()) return true;
  read_run_config(options.output);  // fails if files of the run were removed during the training
  const bool unseen = text.test.source != text.validation.source;
  score_test(log, text.test, translate, translations, outcome.state.step, out, unseen);
  detail::draw_first_maps(options.output, text.test.source, translate);
  write_run_report(options.output / "report.html", {options.output});
  read_run_config(options.output);
  return true;
}

}  // namespace attn
