#pragma once
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "attn/core/file.hpp"
#include "attn/pictures/drawing.hpp"
#include "attn/pictures/learning_curve.hpp"
#include "attn/train/terminal.hpp"
#include "common/report_page.hpp"
#include "common/reported_run.hpp"

namespace attn {

namespace run_report {

using Runs = std::span<const ReportedRun>;

/// A table row with one column per run.
struct Row {
  std::string name;
  std::vector<std::string> cells;
};

inline std::string table(Runs runs, const std::vector<Row>& rows) {
  std::string out = std::string("<div class='") + (runs.size() > 1 ? "wide" : "columns") + "'><table>";
  if (runs.size() > 1) {
    out += "<thead><tr><th></th>";
    for (const ReportedRun& run : runs) out += "<th scope='col'>" + escaped(run.name) + "</th>";
    out += "</tr></thead>";
  }
  out += "<tbody>\n";
  for (const Row& row : rows) {
    out += "<tr><th scope='row'>" + escaped(row.name) + "</th>";
    for (const std::string& cell : row.cells) out += "<td>" + escaped(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

/// The curve of a numeric event field.
inline Series curve_of(const std::map<Index, nlohmann::json>& events, const char* field, std::string name) {
  Series series{std::move(name), {}};
  for (const auto& [step, event] : events)
    if (const auto value = number_of(event, field)) series.points.push_back({static_cast<double>(step), *value});
  return series;
}

/// Converts loss to perplexity with exp.
inline Series perplexity(Series series) {
  for (Series::Point& point : series.points) point.loss = std::exp(point.loss);
  return series;
}

inline std::string draw_curves(Runs runs) {
  std::vector<Plot> plots;
  const auto of_all = [&](std::string title, auto events, const char* field, bool logarithmic = false) {
    Plot plot{std::move(title), {}, logarithmic};
    for (const ReportedRun& run : runs) plot.curves.push_back(curve_of(run.log.*events, field, run.name));
    plots.push_back(std::move(plot));
  };
  const auto steps = &LogEvents::steps, validations = &LogEvents::validations;
  if (runs.size() == 1) {
    const LogEvents& log = runs[0].log;
    plots.push_back({"Loss, nats per token",
                     {curve_of(log.steps, "loss", "training"), curve_of(log.validations, "loss", "validation")}});
    plots.push_back({"Perplexity", plots[0].curves, true});
  } else {
    of_all("Training loss, nats per token", steps, "loss");
    of_all("Validation loss, nats per token", validations, "loss");
    plots.push_back({"Validation perplexity", plots[1].curves, true});
  }
  for (Series& series : plots.back().curves) series = perplexity(std::move(series));
  of_all("Validation score", validations, "score");
  of_all("Learning rate", steps, "rate");
  of_all("Tokens per second", steps, "tokens_per_second");
  of_all("GPU utilisation, 0 to 1", steps, "gpu_utilisation");
  of_all("Gradient norm, before clipping", steps, "gradient_norm", true);
  of_all("Gain from the source, nats per token", validations, "source_gain");
  std::string figures;
  for (Plot& plot : plots) {
    if (runs.size() == 1 && plot.curves.size() == 1) plot.curves[0].name = "";  // the title already names it
    figures += draw_plot(plot);
  }
  if (figures.empty()) return "<p>Nothing to draw yet.</p>\n";
  return "<div class='plots'>\n" + figures + "</div>\n";
}

inline std::vector<Row> figures_of(Runs runs) {
  std::vector<Row> rows;
  const auto row = [&](const char* name, const std::function<std::string(const ReportedRun&)>& cell) {
    Row one{name, {}};
    for (const ReportedRun& run : runs) one.cells.push_back(cell(run));
    if (std::ranges::any_of(one.cells, [](const std::string& text) { return !text.empty(); })) rows.push_back(one);
  };
  const auto figure = [](std::optional<double> value, int decimals) {
    return value ? format_decimals(*value, decimals) : "";
  };
  const auto bleu = [&](const char* name, bool validation) {
    row(name, [&, validation](const ReportedRun& run) {
      std::optional<double> found;
      for (const nlohmann::json& event : run.log.others)
        if (text_of(event, "event") == "test" && (text_of(event, "text") == "validation") == validation)
          found = number_of(event, "bleu");
      return figure(found, 2);
    });
  };
  bleu("BLEU of the test", false);
  bleu("BLEU of the validation text", true);
  row("best validation score", [&](const ReportedRun& run) {
    std::optional<double> best;
    for (const auto& [step, event] : run.log.validations)
      if (const auto score = number_of(event, "score")) best = std::max(best.value_or(*score), *score);
    return figure(best, 2);
  });
  const auto validated = [](const ReportedRun& run) { return !run.summary.validations.points.empty(); };
  row("best validation perplexity",
      [&](const ReportedRun& run) { return validated(run) ? axes::rounded(std::exp(run.summary.best), 4) : ""; });
  row("best validation loss", [&](const ReportedRun& run) {
    const auto& points = run.summary.validations.points;
    const auto best = std::ranges::min_element(points, {}, &Series::Point::loss);
    return validated(run) ? figure(best->loss, 4) + " at step " + format_count(std::llround(best->step)) : "";
  });
  row("mean training loss at the end",
      [&](const ReportedRun& run) { return run.summary.steps > 0 ? figure(run.summary.training_loss, 4) : ""; });
  row("steps", [&](const ReportedRun& run) { return format_count(run.summary.steps); });
  row("time of training", [&](const ReportedRun& run) { return format_duration(run.summary.seconds); });
  row("tokens per second", [&](const ReportedRun& run) {
    double tokens = 0;
    for (const auto& [step, event] : run.log.steps)
      if (number_of(event, "loss")) tokens += number_of(event, "tokens").value_or(0);
    return run.summary.seconds > 0 ? format_count(std::llround(tokens / run.summary.seconds)) : "";
  });
  row("mean GPU utilisation", [&](const ReportedRun& run) {
    double sum = 0, reports = 0;
    for (const auto& [step, event] : run.log.steps)
      if (const auto share = number_of(event, "gpu_utilisation")) sum += *share, ++reports;
    return reports > 0 ? format_decimals(100 * sum / reports, 0) + " %" : "";
  });
  return rows;
}

/// Settings of all runs; for several runs, differing settings come first.
inline std::string draw_settings(Runs runs) {
  std::vector<Row> differ, same;
  std::vector<std::string> names;
  for (const ReportedRun& run : runs)
    for (const auto& [name, value] : run.settings)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (const std::string& name : names) {
    Row row{name, {}};
    for (const ReportedRun& run : runs) {
      const auto found = std::ranges::find(run.settings, name, &std::pair<std::string, std::string>::first);
      row.cells.push_back(found == run.settings.end() ? "–" : found->second);
    }
    const bool equal = std::ranges::count(row.cells, row.cells[0]) == static_cast<std::ptrdiff_t>(runs.size());
    if (equal) row.cells.resize(1);
    (equal ? same : differ).push_back(std::move(row));
  }
  if (runs.size() == 1) return "<h2>Machine and settings</h2>\n" + table(runs, same);
  return "<h2>Settings that differ</h2>\n" + (differ.empty() ? "<p>None.</p>\n" : table(runs, differ)) +
         "<details><summary>Common settings</summary>" + table(runs.first(1), same) + "</details>\n";
}

/// At most five samples, including the first and last.
inline std::vector<SampleTranslation> some_of(const std::vector<SampleTranslation>& all) {
  if (all.size() <= 5) return all;
  std::vector<SampleTranslation> some;
  for (std::size_t i = 0; i < 5; ++i) some.push_back(all[i * (all.size() - 1) / 4]);
  return some;
}

/// Sample translations: by every run, or by one run over time.
inline std::string draw_samples(Runs runs) {
  std::string out;
  std::vector<std::string> shown;
  for (const ReportedRun& first : runs)
    for (const SampleTranslation& sample : first.samples) {
      if (sample.source.empty() || std::ranges::find(shown, sample.source) != shown.end() || shown.size() == 12) continue;
      shown.push_back(sample.source);
      out += "<dl><dt>source</dt><dd>" + escaped(sample.source) + "</dd>";
      for (const ReportedRun& run : runs) {
        std::vector<SampleTranslation> of_it;
        std::ranges::copy_if(run.samples, std::back_inserter(of_it),
                             [&](const SampleTranslation& one) { return one.source == sample.source; });
        for (const SampleTranslation& one : some_of(of_it))
          out += "<dt>" + (runs.size() > 1 ? escaped(run.name) : "translation") +
                 (one.step > 0 ? ", step " + format_count(one.step) : "") + "</dt><dd>" + escaped(one.translation) +
                 "</dd>";
      }
      if (!sample.reference.empty()) out += "<dt>reference</dt><dd class='quiet'>" + escaped(sample.reference) + "</dd>";
      out += "</dl>\n";
    }
  for (const ReportedRun& run : runs) {
    if (run.samples.empty() || !run.samples[0].source.empty()) continue;
    out += "<p>" + escaped(run.name) + ", the first lines of translations.txt:</p><ol>";
    for (const SampleTranslation& one : run.samples) out += "<li>" + escaped(one.translation) + "</li>";
    out += "</ol>\n";
  }
  return out.empty() ? "" : "<h2>Translations</h2>\n" + out;
}

inline std::string draw_warnings(Runs runs) {
  std::string out;
  for (const ReportedRun& run : runs)
    for (const std::string& text : run.warnings)
      out += "<li>" + (runs.size() > 1 ? escaped(run.name) + ": " : "") + escaped(text) + "</li>\n";
  return out.empty() ? "" : "<ul class='warnings'>\n" + out + "</ul>\n";
}

inline std::string draw_maps(Runs runs) {
  std::string out;
  for (const ReportedRun& run : runs)
    for (const std::string& map : run.maps)
      out +=
          "<div>" + (runs.size() > 1 ? "<h3>" + escaped(run.name) + "</h3>" : "") + report_page::framed(map) + "</div>\n";
  return out.empty() ? "" : "<h2>Attention</h2>\n<div class='plots'>\n" + out + "</div>\n";
}

}  // namespace run_report

/// Renders runs side by side as one self-contained HTML page that works offline: metrics, warnings, interactive curves,
/// translations, attention maps, machines and settings. The page is readable without JavaScript.
inline std::string draw_run_report(std::span<const ReportedRun> runs) {
  using namespace run_report;
  require(!runs.empty(), "no runs. Name at least one run folder.");
  const std::string title = runs.size() == 1 ? runs[0].name : std::to_string(runs.size()) + " runs side by side";
  return report_page::page(title, draw_warnings(runs) + table(runs, figures_of(runs)) + "<h2>Curves</h2>\n" +
                                      draw_curves(runs) + draw_samples(runs) + draw_maps(runs) + draw_settings(runs));
}

/// Writes the report of the runs in these folders to a file; replaces an existing file.
inline void write_run_report(const std::filesystem::path& path, const std::vector<std::filesystem::path>& folders) {
  write_file(path, draw_run_report(read_reported_runs(folders)));
}

}  // namespace attn
