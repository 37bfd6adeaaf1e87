#include "low_rank.hpp"

#include <iostream>
#include <map>
#include <optional>

#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/run/begin_run.hpp"
#include "attn/run/model_registry.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/train/progress.hpp"
#include "line_figure.hpp"
#include "singular_values.hpp"
#include "train_models.hpp"

using namespace attn;

namespace {

constexpr int kPlaces = 64;  // points of a curve, at equal shares of the number of singular values

/// Of one layer: the mean of its matrices' curves.
struct LayerCurve {
  std::string looks;  // who at what: encoder, decoder, cross
  std::vector<double> share = std::vector<double>(kPlaces + 1);
  double values = 0, matrices = 0;  // singular values of a matrix, on average; matrices

  void add(const AttentionMap& map) {
    const std::vector<double> cumulated = cumulated_share(singular_values(map.rows, map.cols, map.weights));
    ++matrices;
    values += (static_cast<double>(cumulated.size() - 1) - values) / matrices;
    for (int i = 0; i <= kPlaces; ++i)
      share[static_cast<std::size_t>(i)] +=
          (interpolated(cumulated, static_cast<double>(i) / kPlaces) - share[static_cast<std::size_t>(i)]) / matrices;
  }
};

using Curves = std::map<std::string, LayerCurve>;  // by the layer's name

/// Some of the longer half of the pairs, evenly spaced among them by length: short sentences have few singular values.
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

/// Nothing where the program was asked to stop.
std::optional<Curves> curves_of(AnyModel& model, const RunCard& card, const ParallelCorpus& pairs,
                                const std::vector<Index>& places) {
  const SpecialTokens special_tokens = special_tokens_of(card.source, card.target);
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

FigureLine as_line(const std::string& name, const std::vector<double>& share, int colour, FigureLine::Stroke stroke) {
  FigureLine line{name, {}, colour, stroke};
  for (int i = 0; i <= kPlaces; ++i)
    line.points.emplace_back(static_cast<double>(i) / kPlaces, share[static_cast<std::size_t>(i)]);
  return line;
}

Figure draw(const Curves& trained, const Curves& untrained, std::size_t sentences) {
  Figure figure{.x_label = "largest singular values, as a share of their number", .y_label = "share of their sum"};
  double values = 0, layers = 0;
  std::vector<double> mean(kPlaces + 1);
  for (const auto& [layer, curve] : trained) {
    if (curve.looks != "encoder") continue;
    values = curve.values;
    const auto number = static_cast<int>(figure.lines.size());
    figure.lines.push_back(as_line("encoder, layer " + std::to_string(number + 1) + ": the largest quarter makes up " +
                                       format_decimals(100 * interpolated(curve.share, 0.25), 0) + " %",
                                   curve.share, number, FigureLine::solid));
  }
  for (const auto& [layer, curve] : untrained) {
    if (curve.looks != "encoder") continue;
    ++layers;
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += (curve.share[i] - mean[i]) / layers;
  }
  figure.title = "Singular values of attention matrices: " + counted(sentences, "sentence") + " of " +
                 format_decimals(values, 0) + " tokens on average";
  figure.lines.push_back(as_line("before training, mean of the layers", mean, 5, FigureLine::dashed));
  figure.lines.push_back({"were all of them equal", {{0, 0}, {1, 1}}, 5, FigureLine::dotted});
  for (int i = 0; i <= 4; ++i) {
    const double at = i / 4.0;
    figure.x_ticks.push_back({at, format_decimals(100 * at, 0) + " %"});
    figure.y_ticks.push_back({at, format_decimals(100 * at, 0) + " %"});
  }
  return figure;
}

}  // namespace

void write_singular_values(const ExperimentOptions& options) {
  const auto folder = folder_of(options, "transformer"), weights = folder / "model.safetensors";
  const auto picture = options.folder() / "singular-values.svg", table = options.folder() / "singular-values.tsv";
  require(is_finished_run(folder), "the Transformer in ", folder.string(),
          " is not trained to its end: run the part train first");
  const auto newer = [&](const std::filesystem::path& file) {
    return std::filesystem::exists(file) &&
           std::filesystem::last_write_time(file) > std::filesystem::last_write_time(weights);
  };
  if (newer(table) && newer(picture)) {
    std::cout << "singular values are there already: " << picture.string() << "\n";
    return;
  }
  const RunCard card = read_run_card(folder);
  const ParallelCorpus pairs = encode_corpus(kept_text(options, "validation"), card.source, card.target, card.truncate);
  const std::vector<Index> places = longer_pairs(pairs, options.matrices_of);
  const auto model = models().make(card.model, options.training.device, card.seed);
  const std::optional<Curves> untrained = curves_of(*model, card, pairs, places);
  model->load(weights);
  const std::optional<Curves> trained = curves_of(*model, card, pairs, places);
  if (!trained || !untrained) return;
  const Figure figure = draw(*trained, *untrained, places.size());
  write_file(table, as_tsv(*trained, *untrained));
  write_file(picture, figure.draw());
  for (const FigureLine& line : figure.lines) std::cout << line.name << "\n";
  std::cout << "written to " << picture.string() << "\n";
}
