#pragma once
#include <chrono>
#include <fstream>

#include "attn/checkpoint/json.hpp"
#include "attn/core/file.hpp"
#include "attn/pictures/learning_curve.hpp"
#include "attn/train/callback.hpp"

namespace attn {

/// Logs a training as JSON lines, one per event, and draws its learning curves. A resumed training appends, after removing
/// the steps and validations that will be repeated.
class RunLog : public Callback {
 public:
  RunLog(std::filesystem::path log, std::filesystem::path picture, std::string title, std::optional<Index> resumed_at = {})
      : path_(std::move(log)), picture_(std::move(picture)), title_(std::move(title)) {
    if (resumed_at) read(*resumed_at);
    out_.open(path_, resumed_at ? std::ios::app : std::ios::trunc);
    require(out_.is_open(), "cannot write the log ", path_.string(),
            "; check that its folder exists and may be written to");
  }

  /// Duration of the training in seconds, including earlier runs.
  double seconds() const { return before_ + std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// Called with every line written.
  std::function<void(const std::string& line)> echo;

  /// The utilisation of the GPU, from 0 to 1, for each report and validation. Nothing is logged without a value.
  std::function<std::optional<double>()> gpu_utilisation;

  /// Writes any event: run settings, the machine, a score. JSON has no non-finite numbers; they become null.
  void write(const nlohmann::json& event) {
    const std::string line = json_text(event);
    out_ << line << '\n' << std::flush;
    require(out_.good(), "cannot write the log ", path_.string(), "; is the disk full?");
    if (echo) echo(line);
  }

  void on_step(const StepReport& report) override {
    training_.points.push_back({static_cast<double>(report.step), report.loss});
    nlohmann::json event{{"event", "step"},
                         {"step", report.step},
                         {"epoch", report.epoch},
                         {"loss", report.loss},
                         {"rate", report.rate},
                         {"tokens", report.tokens},
                         {"tokens_per_second", report.tokens_per_second},
                         {"waiting", report.waiting},
                         {"seconds", seconds()}};
    add_utilisation(event);
    if (report.communicating > 0) event["communicating"] = report.communicating;
    if (report.gradient_norm) event["gradient_norm"] = *report.gradient_norm;
    if (!report.gradient_norms.empty()) event["gradient_norms"] = report.gradient_norms;
    for (const LossTerm& term : report.terms) event["terms"][term.name] = term.value;
    write(event);
  }
  void on_validation(const ValidationReport& report) override {
    validation_.points.push_back({static_cast<double>(report.step), report.loss});
    nlohmann::json event{{"event", "validation"}, {"step", report.step}, {"epoch", report.epoch},
                         {"loss", report.loss},   {"best", report.best}, {"seconds", seconds()}};
    add_utilisation(event);
    if (report.likelihood) event["perplexity"] = report.perplexity();
    if (report.score) event["score"] = *report.score;
    if (report.source_gain) event["source_gain"] = *report.source_gain;
    write(event);
    draw();
  }
  void on_warning(const std::string& text) override { write({{"event", "warning"}, {"text", text}}); }
  void on_end() override { draw(); }

 private:
  using Clock = std::chrono::steady_clock;

  void add_utilisation(nlohmann::json& event) const {
    if (const auto share = gpu_utilisation ? gpu_utilisation() : std::nullopt) event["gpu_utilisation"] = *share;
  }
  void draw() const {
    const Series series[] = {training_, validation_};
    write_file(picture_, draw_learning_curve(title_, series));
  }

  /// Reads the log of the earlier run. Removes steps and validations after the checkpoint, because they are repeated. Skips
  /// a last line cut off by a crash and losses that are not finite.
  void read(Index until) {
    std::ifstream in(path_);
    std::vector<std::string> kept;
    bool again = false;
    for (std::string line; std::getline(in, line);) {
      again = again || in.eof();  // the last line lacks its newline
      const auto event = parse_json(line);
      const auto kind = field(event, "event"), step = field(event, "step"), loss = field(event, "loss");
      if ((kind == "step" || kind == "validation") && step.is_number() && step > until) {
        again = true;
        continue;
      }
      kept.push_back(line);
      if (const auto seconds = field(event, "seconds"); seconds.is_number()) before_ = seconds;
      if (!step.is_number() || !loss.is_number() || step > until) continue;
      Series& series = kind == "step" ? training_ : validation_;
      series.points.push_back({step.get<double>(), loss.get<double>()});
    }
    if (again) write_lines(path_, kept);
  }
  static nlohmann::json field(const nlohmann::json& event, const char* name) {
    return event.is_object() && event.contains(name) ? event[name] : nlohmann::json();
  }

  std::filesystem::path path_, picture_;
  std::string title_;
  std::ofstream out_;
  Clock::time_point start_ = Clock::now();
  double before_ = 0;  // seconds of earlier runs
  Series training_{"training", {}, true}, validation_{"validation", {}};
};

}  // namespace attn
