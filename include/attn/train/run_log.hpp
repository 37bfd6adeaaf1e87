#pragma once
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "attn/core/error.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/json_text.hpp"
#include "attn/train/learning_curve.hpp"
#include "attn/train/parse_json.hpp"

namespace attn {

/// A training as JSON lines, one event each, and as a picture of its learning curves. A training that is resumed appends;
/// the picture shows what led to where it resumed, and what came after.
class RunLog : public Callback {
 public:
  RunLog(std::filesystem::path log, std::filesystem::path picture, std::string title, std::optional<Index> resumed_at = {})
      : path_(std::move(log)), picture_(std::move(picture)), title_(std::move(title)) {
    if (resumed_at) read(*resumed_at);
    out_.open(path_, resumed_at ? std::ios::app : std::ios::trunc);
    if (cut_off_) out_ << '\n';
    require(out_.is_open(), "cannot write the log ", path_.string(),
            "; check that its folder exists and may be written to");
  }

  /// Hears every line too, when it is written.
  std::function<void(const std::string& line)> echo;

  /// Any event: the settings of the run, the machine, a score. A number that is not finite becomes null: JSON has none.
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
                         {"waiting", report.waiting}};
    if (report.communicating > 0) event["communicating"] = report.communicating;
    if (report.gradient_norm) event["gradient_norm"] = *report.gradient_norm;
    for (const LossTerm& term : report.terms) event["terms"][term.name] = term.value;
    write(event);
  }
  void on_validation(const ValidationReport& report) override {
    validation_.points.push_back({static_cast<double>(report.step), report.loss});
    nlohmann::json event{{"event", "validation"},
                         {"step", report.step},
                         {"epoch", report.epoch},
                         {"loss", report.loss},
                         {"perplexity", report.perplexity()},
                         {"best", report.best}};
    if (report.score) event["score"] = *report.score;
    if (report.source_gain) event["source_gain"] = *report.source_gain;
    write(event);
    draw();
  }
  void on_warning(const std::string& text) override { write({{"event", "warning"}, {"text", text}}); }
  void on_end() override { draw(); }

 private:
  void draw() const {
    const Series series[] = {training_, validation_};
    write_learning_curve(picture_, title_, series);
  }

  /// What an earlier part of the same run has logged. A last line that was cut off by a crash is passed over, and so is a
  /// loss that was not finite.
  void read(Index until) {
    std::ifstream in(path_);
    for (std::string line; std::getline(in, line);) {
      cut_off_ = in.eof();
      const auto event = parse_json(line);
      const auto kind = field(event, "event"), step = field(event, "step"), loss = field(event, "loss");
      if (!step.is_number() || !loss.is_number() || step > until) continue;
      Series& series = kind == "step" ? training_ : validation_;
      series.points.push_back({step.get<double>(), loss.get<double>()});
    }
  }
  static nlohmann::json field(const nlohmann::json& event, const char* name) {
    return event.is_object() && event.contains(name) ? event[name] : nlohmann::json();
  }

  std::filesystem::path path_, picture_;
  std::string title_;
  std::ofstream out_;
  bool cut_off_ = false;  // the last line has no end
  Series training_{"training", {}, true}, validation_{"validation", {}};
};

}  // namespace attn
