#include "experiment.hpp"

#include <charconv>
#include <iostream>
#include <sstream>

#include "attn/pictures/chart.hpp"
#include "attn/run/cpu_models.hpp"
#include "common/stop_signal.hpp"
#include "inference.hpp"
#include "paper.hpp"

using namespace attn;

namespace {

const std::string head = "whose\tkind\tk\tn\ttokens\tmilliseconds\tdevice";

template <class Number>
Number number_in(const std::string& text, const std::filesystem::path& file) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value >= 0, file.string(), ": '", text,
          "' is not a number. Remove the file and measure again.");
  return value;
}

std::vector<InferenceTime> read_times(const std::filesystem::path& file) {
  std::vector<InferenceTime> times;
  const std::vector<std::string> lines = read_lines(file);
  require(!lines.empty() && lines[0] == head, file.string(), " does not begin with the columns ", head,
          ". Pass a file of forward-pass times.");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::vector<std::string> cells;
    std::istringstream in(lines[i]);
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    require(cells.size() == 7, file.string(), ", line ", i + 1, " has ", cells.size(),
            " columns, not 7. Remove the file and measure again.");
    times.push_back({cells[0], cells[1], number_in<Index>(cells[2], file), number_in<Index>(cells[3], file),
                     number_in<Index>(cells[4], file), number_in<double>(cells[5], file), cells[6]});
  }
  return times;
}

void write_times(const std::filesystem::path& file, const std::vector<InferenceTime>& times) {
  std::string text = head + "\n";
  for (const InferenceTime& one : times)
    text += one.whose + "\t" + one.kind + "\t" + std::to_string(one.k) + "\t" + std::to_string(one.n) + "\t" +
            std::to_string(one.tokens) + "\t" + format_decimals(one.milliseconds, 4) + "\t" + one.device + "\n";
  write_file(file, text);
}

constexpr Index kAll[] = {0, 32, 64, 128};  // k of the models; 0: the Transformer
constexpr int kLengths = 7;  // sequence lengths per figure: each is twice the one before; the longest is all tokens

std::string model_title(Index k) { return k == 0 ? "Transformer" : "Linformer, k = " + std::to_string(k); }

std::vector<Index> lengths_of(Index tokens) {
  std::vector<Index> lengths;
  for (int i = kLengths - 1; i >= 0; --i) lengths.push_back(tokens >> i);
  return lengths;
}

/// Whether `times` covers this model at every length.
bool has_all(const std::vector<InferenceTime>& times, const InferenceWork& work) {
  return std::ranges::all_of(work.lengths, [&](Index n) {
    return std::ranges::any_of(times, [&](const InferenceTime& one) {
      return one.kind == work.kind && one.k == work.k && one.tokens == work.tokens && one.n == n;
    });
  });
}

/// Reads the times in the file and measures missing ones, until done or until a stop signal.
std::vector<InferenceTime> measure_all(const ExperimentOptions& options, const std::filesystem::path& file) {
  const bool gpu = backend(options.training.device).starts_with("cuda");
  const Index tokens = options.figure_tokens > 0 ? options.figure_tokens : gpu ? 16'384 : 1'024;
  std::vector<InferenceTime> times;
  if (file_exists(file)) times = read_times(file);
  std::erase_if(times, [&](const InferenceTime& one) { return one.tokens != tokens; });
  for (const char* kind : {"encoder", "encoder-decoder"})
    for (const Index k : kAll) {
      const InferenceWork work{kind, k, tokens, lengths_of(tokens), options.repeats};
      if (has_all(times, work) || stop_signal() != 0) continue;
      std::erase_if(times, [&](const InferenceTime& one) { return one.kind == kind && one.k == k; });
      const auto found = (gpu ? measure_on_gpu : measure_on_cpu)(work, options.training.device);
      if (!times.empty() && times[0].device != found[0].device)
        fail(file.string(), " has times of ", times[0].device, ", but this is ", found[0].device,
             ". Remove the file, or choose another folder (--output).");
      times.insert(times.end(), found.begin(), found.end());
      write_times(file, times);
      std::cout << kind << ", " << model_title(k) << ", ms:";
      for (const InferenceTime& one : found) std::cout << "  " << one.n << ": " << format_decimals(one.milliseconds, 2);
      std::cout << std::endl;
    }
  return times;
}

/// Adds one line for each model of the kind.
void add_lines(Chart& figure, const std::vector<InferenceTime>& times, const std::string& kind, const std::string& whose,
               ChartLine::Stroke stroke) {
  int colour = 0;
  for (const Index k : kAll) {
    ChartLine line{whose + ": " + model_title(k), {}, colour++, stroke};
    for (const InferenceTime& one : times)
      if (one.kind == kind && one.k == k) line.points.push_back({static_cast<double>(one.n), one.milliseconds});
    std::ranges::sort(line.points, {}, &ChartLine::Point::x);
    if (!line.points.empty()) figure.lines.push_back(line);
  }
}

void add_paper(Chart& figure) {
  ChartLine transformer{"paper, RTX 3090: Transformer", {}, 0, ChartLine::dotted};
  ChartLine linformer{"paper, RTX 3090: Linformer, k = 128", {}, 3, ChartLine::dotted};
  for (const auto& [n, milliseconds] : paper_encoder_milliseconds) {
    transformer.points.push_back({static_cast<double>(n), milliseconds});
    linformer.points.push_back({static_cast<double>(n), paper_linformer128_milliseconds});
  }
  figure.lines.insert(figure.lines.end(), {transformer, linformer});
}

}  // namespace

std::vector<InferenceTime> measure_on_cpu(const InferenceWork& work, const DeviceOptions& device) {
  return inference::measure_on<Cpu<float>>(work, device);
}

#ifndef ATTN_CUDA
std::vector<InferenceTime> measure_on_gpu(const InferenceWork&, const DeviceOptions&) {
  fail("this program was built without CUDA. Use --device cpu.");
}
#endif

void draw_figures(const ExperimentOptions& options) {
  const std::vector<InferenceTime> times = measure_all(options, options.folder() / "inference.tsv");
  if (stop_signal() != 0) return;
  const Index tokens = times.at(0).tokens;
  const auto usual = options.folder() / "pytorch.tsv";
  const auto file = !options.pytorch.empty() ? options.pytorch : usual;
  std::vector<InferenceTime> pytorch;
  if (file_exists(file)) pytorch = read_times(file);
  std::erase_if(pytorch, [&](const InferenceTime& one) { return one.tokens != tokens; });
  if (pytorch.empty())
    std::cout << "no times of PyTorch for " << format_count(tokens) << " tokens in " << file.string()
              << ". benchmarks/pytorch_inference.py writes them.\n";

  const auto draw = [&](const char* name, const std::string& kind, const std::string& title) {
    Chart figure{.title = title,
                 .x_label = "tokens of a sentence, n; " + format_count(tokens) + " in all" +
                            (kind == "encoder" ? "" : ", on either side") + "; " + times[0].device,
                 .y_label = "milliseconds of a forward pass",
                 .legend_columns = 2};
    add_lines(figure, times, kind, "attn", ChartLine::solid);
    if (!pytorch.empty()) add_lines(figure, pytorch, kind, "PyTorch", ChartLine::dashed);
    if (kind == "encoder" && tokens == paper_encoder_milliseconds.back().first) add_paper(figure);
    std::vector<Axis::Tick> ticks;
    for (const Index n : lengths_of(tokens)) ticks.push_back({static_cast<double>(n), format_count(n)});
    figure.x = Axis::between(ticks, true), figure.y = axes::logarithmic(chart::ranges(figure.lines).y, 5, axes::label);
    write_file(options.folder() / name, figure.draw());
    std::cout << "written to " << (options.folder() / name).string() << "\n";
  };
  draw("figure1.svg", "encoder-decoder", "Figure 1: inference of an encoder-decoder");
  draw("figure2.svg", "encoder", "Figure 2: inference of an encoder");
}
