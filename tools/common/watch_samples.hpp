#pragma once
#include <nlohmann/json.hpp>

#include "attn/data/parallel_text.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/training_run.hpp"

namespace attn {

/// The log event `samples`: the first sentences with their translations and references.
inline nlohmann::json samples_event(const ParallelText& text, const std::vector<std::string>& translations, Index step) {
  nlohmann::json samples = nlohmann::json::array();
  for (std::size_t i = 0; i < translations.size(); ++i)
    samples.push_back({{"source", text.source[i]}, {"translation", translations[i]}, {"reference", text.target[i]}});
  return {{"event", "samples"}, {"step", step}, {"samples", samples}};
}

/// Translates a few sentences at every validation so that a report can show the improvement. Keeps the events until the
/// training ends, because the training owns the log.
class WatchSamples {
 public:
  WatchSamples(const ParallelText& text, const FolderTranslator& translate)
      : text_(text), translate_(translate), lines_(text.source.begin(), text.source.begin() + some(text)) {}

  /// Adds itself to the existing progress callback.
  void watch(TrainingRun& training) {
    training.progress = [this, other = training.progress](Index step, Index steps) {
      return std::make_unique<Watching>(*this, other(step, steps));
    };
  }

  const std::vector<nlohmann::json>& events() const { return events_; }

 private:
  struct Watching : Callback {
    Watching(WatchSamples& samples, std::unique_ptr<Callback> other) : to(samples), shown(std::move(other)) {}
    void on_step(const StepReport& report) override { shown->on_step(report); }
    void on_validation(const ValidationReport& report) override {
      shown->on_validation(report);
      to.events_.push_back(samples_event(to.text_, to.translate_(to.lines_), report.step));
    }
    void on_warning(const std::string& text) override { shown->on_warning(text); }
    void on_end() override { shown->on_end(); }
    bool stop_training() override { return shown->stop_training(); }

    WatchSamples& to;
    std::unique_ptr<Callback> shown;
  };

  static std::ptrdiff_t some(const ParallelText& text) {
    return static_cast<std::ptrdiff_t>(std::min<std::size_t>(4, text.source.size()));
  }

  const ParallelText& text_;
  const FolderTranslator& translate_;
  std::vector<std::string> lines_;
  std::vector<nlohmann::json> events_;
};

}  // namespace attn
