#include "experiment.hpp"

#include <iostream>
#include <map>

#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/run/model_registry.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/train/terminal.hpp"
#include "common/begin_run.hpp"
#include "common/stop_signal.hpp"
#include "singular_values.hpp"

using namespace attn;

namespace {

constexpr int kPlaces = 64;  // points per curve, evenly spaced over the singular values

/// The mean curve over a layer's attention matrices.
struct LayerCurve {
  std::string looks;  // kind of attention: encoder, decoder, cross
  std::vector<double> share = std::vector<double>(kPlaces + 1);
  double values = 0, matrices = 0;  // mean number of singular values; number of matrices

  void add(const AttentionMap& map) {
    const std::vector<double> cumulated = cumulated_share(singular_values(map.rows, map.cols, map.weights));
    ++matrices;
    values += (static_cast<double>(cumulated.size() - 1) - values) / matrices;
    for (int i = 0; i <= kPlaces; ++i)
      share[static_cast<std::size_t>(i)] +=
          (interpolated(cumulated, static_cast<double>(i) / kPlaces) - share[static_cast<std::size_t>(i)]) / matrices;
  }
};

using Curves = std::map<std::string, LayerCurve>;  // by layer name

/// `count` pairs from the longer half, evenly spaced by length. Short sentences have few singular values.
std::vector<Index> longer_pairs(const ParallelCorpus& pairs, Index count) {
  std::vector<Index> places;
  for (Index i = 0; i < pairs.size(); ++i)
    if (pairs.source_length(i) > 0 && pairs.target_length(i) > 0) places.push_back(i);
  std::stable_sort(places.begin(), places.end(),
                   [&](Index a, Index b) { return pairs.source_length(a) < pairs.source_length(b); });
  places.erase(places.begin(), places.begin() + std::ssize(places) / 2);
  std::vector<Index> some;
  count = std::min(count, static_cast<Index>(places.size()));
  for (Index i = 0; i < count; ++i)
    some.push_back(places[static_cast<std::size_t>((2 * i + 1) * std::ssize(places) / (2 * count))]);
  return some;
}

/// Empty after a stop signal.
std::optional<Curves> curves_of(AnyModel& model, const RunConfig& config, const ParallelCorpus& pairs,
                                const std::vector<Index>& places) {
  const SpecialTokens special_tokens = special_tokens_of(config.source, config.target);
  Curves curves;
  for (const Index i : places) {
    if (stop_signal() != 0) return std::nullopt;
    for (const AttentionMap& map : model.attention_maps(special_tokens, pairs.source[i], pairs.target[i])) {
      LayerCurve& curve = curves[map.layer];
      curve.looks = map.translates() ? "cross" : map.of == Side::source ? "encoder" : "decoder";
      curve.add(map);
    }
  }
  return curves;
}

std::string as_tsv(const Curves& trained, const Curves& untrained) {
  std::string text = "weights\tattention\tlayer\tmatrices\tsingular values\tplace\tshare\n";
  for (const auto& [weights, curves] : {std::pair("trained", &trained), {"first", &untrained}})
    for (const auto& [layer, curve] : *curves)
      for (int i = 0; i <= kPlaces; ++i)
        text += std::string(weights) + "\t" + curve.looks + "\t" + layer + "\t" + format_decimals(curve.matrices, 0) +
                "\t" + format_decimals(curve.values, 1) + "\t" + format_decimals(static_cast<double>(i) / kPlaces, 6) +
                "\t" + format_decimals(curve.share[static_cast<std::size_t>(i)], 6) + "\n";
  return text;
}

ChartLine as_line(const std::string& name, const std::vector<double>& share, int colour, ChartLine::Stroke stroke) {
  ChartLine line{name, {}, colour, stroke};
  for (int i = 0; i <= kPlaces; ++i)
    line.points.push_back({static_cast<double>(i) / kPlaces, share[static_cast<std::size_t>(i)]});
  return line;
}

Chart draw(const Curves& trained, const Curves& untrained, std::size_t sentences) {
  Chart figure{.x_label = "largest singular values, as a share of their number",
               .y_label = "share of their sum",
               .legend_columns = 2};
  double values = 0, layers = 0;
  std::vector<double> mean(kPlaces + 1);
  for (const auto& [layer, curve] : trained) {
    if (curve.looks != "encoder") continue;
    values = curve.values;
    const auto number = static_cast<int>(figure.lines.size());
    figure.lines.push_back(as_line("encoder, layer " + std::to_string(number + 1) + ": the largest quarter makes up " +
                                       format_decimals(100 * interpolated(curve.share, 0.25), 0) + " %",
                                   curve.share, number, ChartLine::solid));
  }
  for (const auto& [layer, curve] : untrained) {
    if (curve.looks != "encoder") continue;
    ++layers;
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += (curve.share[i] - mean[i]) / layers;
  }
  figure.title = "Singular values of attention matrices: " + counted(sentences, "sentence") + " of " +
                 format_decimals(values, 0) + " tokens on average";
  figure.lines.push_back(as_line("before training, mean of the layers", mean, 5, ChartLine::dashed));
  figure.lines.push_back({"if all were equal", {{0, 0}, {1, 1}}, 5, ChartLine::dotted});
  figure.x = figure.y = Axis::between({{0, "0 %"}, {0.25, "25 %"}, {0.5, "50 %"}, {0.75, "75 %"}, {1, "100 %"}}, false);
  return figure;
}

}  // namespace

void write_singular_values(const ExperimentOptions& options) {
  const auto folder = folder_of(options, "transformer"), weights = folder / "model.safetensors";
  const auto picture = options.folder() / "singular-values.svg", table = options.folder() / "singular-values.tsv";
  require(is_finished_run(folder), "the Transformer in ", folder.string(),
          " is not fully trained. Run the part train first.");
  const auto newer = [&](const std::filesystem::path& file) {
    return file_exists(file) && std::filesystem::last_write_time(file) > std::filesystem::last_write_time(weights);
  };
  if (newer(table) && newer(picture)) {
    std::cout << "singular values exist already: " << picture.string() << "\n";
    return;
  }
  const RunConfig config = read_run_config(folder);
  const ParallelCorpus pairs =
      encode_corpus(kept_text(options, "validation"), config.source, config.target, config.truncate);
  const std::vector<Index> places = longer_pairs(pairs, options.matrices_of);
  const auto model = models().make(config.model, options.training.device, config.seed);
  const std::optional<Curves> untrained = curves_of(*model, config, pairs, places);
  model->load(SafetensorsFile(weights));
  const std::optional<Curves> trained = curves_of(*model, config, pairs, places);
  if (!trained || !untrained) return;
  const Chart figure = draw(*trained, *untrained, places.size());
  write_file(table, as_tsv(*trained, *untrained));
  write_file(picture, figure.draw());
  for (const ChartLine& line : figure.lines) std::cout << line.name << "\n";
  std::cout << "written to " << picture.string() << "\n";
}
