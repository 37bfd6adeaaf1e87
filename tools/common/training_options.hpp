#pragma once
#include <filesystem>
#include <iosfwd>
#include <set>
#include <tuple>

#include "attn/ops/optimisers.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/run/device_options.hpp"
#include "attn/run/model_spec.hpp"
#include "common/setting_names.hpp"
#include "common/training_text.hpp"

namespace attn {

/// Library models with a size and a norm. Linformers accept any k.
inline constexpr std::array<const char*, 4> sized_models{"transformer", "linformer32", "linformer64", "linformer128"};

inline bool has_sizes(std::string_view model) { return model == "transformer" || linformer_k(model).has_value(); }

/// Parses encoder and decoder layers from "3+3" or "6"; nullopt if the text is neither.
inline std::optional<std::pair<int, int>> read_layers(std::string_view text) {
  const std::size_t plus = text.find('+');
  const auto encoder = read_size(text.substr(0, plus)),
             decoder = plus == text.npos ? encoder : read_size(text.substr(plus + 1));
  if (!encoder || !decoder) return {};
  return std::pair(*encoder, *decoder);
}

/// Options of a program that trains a translation model: the library's option structs, and the choice of text, model and
/// folder. A new setting is a field here or in one of those structs, and a line in training_command_line.hpp.
struct TrainingOptions {
  TextOptions text = {};

  // model
  std::string model = "transformer";  // one of sized_models, or any name in the registry
  ModelSize size = ModelSize::base;   // size and norm are for sized_models
  NormPosition norm = NormPosition::post;
  std::string layers = {};  // e.g. "3+3"; overrides the size, as do the next three if not 0
  int width = 0, embedding = 0, heads = 0, inner = 0;
  double dropout = 0, attention_dropout = 0, activation_dropout = 0;
  bool shared = true;  // share one table between both embeddings and the output projection

  // training
  BatchOptions batches = {.size = 0};  // the seed is train.seed
  TrainOptions train = {.epochs = 0, .loss = {.amount = 0.1}};
  AdamOptions adam = {.beta2 = 0.98, .epsilon = 1e-9, .clip_norm = 1};
  ScheduleOptions schedule = {};
  DataParallelOptions parallel = {};
  SumOn sum_on = SumOn::any;
  std::vector<std::string> freeze = {};  // parameter names that are not trained; see Parameters::freeze
  double average_decay = 0;
  Index average_best = 0;
  Index test_beam = 1;

  // results
  std::filesystem::path start_from = {};  // run folder with the initial weights
  std::filesystem::path output = "runs/training";
  bool resume = false, overwrite = false;
  std::ostream* json = nullptr;  // also receives the log lines; nullptr: text output only
  bool terminal = false;         // output is a terminal: redraw one progress line
  Index limit = 256;             // maximum tokens per translation

  DeviceOptions device = {};
  std::set<std::string> given = {};      // options set on the command line or in a file
  std::set<std::string> suggested = {};  // options set by a recipe

  bool own_shape() const { return !layers.empty() || width > 0 || heads > 0 || inner > 0; }

  /// The model's registry name: a preset, or an architecture that takes shape().
  std::string model_name() const {
    const std::string pre = norm == NormPosition::pre ? "-pre" : "";
    if (!has_sizes(model)) return model;
    if (own_shape()) return (linformer_k(model) ? "linformer" : "transformer") + pre;
    return model + "-" + std::string(setting_name(size)) + pre;
  }

  /// The sizes of a recurrent model, if they are not its usual ones.
  std::optional<RecurrentShape> recurrent_shape() const {
    auto shape = find_recurrent_shape(model);
    if (!shape || !(own_shape() || embedding > 0)) return {};
    if (const auto counts = read_layers(layers)) std::tie(shape->encoder_layers, shape->decoder_layers) = *counts;
    if (width > 0) shape->width = width;
    if (embedding > 0) shape->embedding = embedding;
    return shape;
  }

  /// The shape of a model that is not a preset: the size's shape with explicit overrides.
  std::optional<TransformerShape> shape() const {
    if (!has_sizes(model) || !own_shape()) return {};
    TransformerShape shape = find_preset_shape(setting_name(size)).value();
    if (const auto counts = read_layers(layers)) std::tie(shape.encoder_layers, shape.decoder_layers) = *counts;
    if (width > 0) shape.width = width;
    if (heads > 0) shape.heads = heads;
    shape.inner = inner > 0 ? inner : width > 0 ? 4 * width : shape.inner;
    if (const auto k = linformer_k(model)) shape.linformer_k = *k, shape.linformer_n = preset_linformer_n;
    return shape;
  }
};

}  // namespace attn
