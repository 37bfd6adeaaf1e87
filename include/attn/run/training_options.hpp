#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/run/device_options.hpp"
#include "attn/run/model_presets.hpp"
#include "attn/run/training_text.hpp"

namespace attn {

/// The models of the library, which take a size and a norm. Linformers take any k.
inline constexpr std::array<const char*, 4> sized_models{"transformer", "linformer32", "linformer64", "linformer128"};

inline bool has_sizes(std::string_view model) { return model == "transformer" || linformer_k(model).has_value(); }

/// Encoder and decoder layers from "3+3" or "6"; nothing if the text is neither.
inline std::optional<std::pair<int, int>> read_layers(std::string_view text) {
  const std::size_t plus = text.find('+');
  const auto encoder = read_size(text.substr(0, plus)),
             decoder = plus == text.npos ? encoder : read_size(text.substr(plus + 1));
  if (!encoder || !decoder) return {};
  return std::pair(*encoder, *decoder);
}

/// Everything that a program which trains a translation model can be told, as words and numbers. Its command line is in
/// run/training_command_line.hpp, what to suggest for what was not given in run/training_recipe.hpp, and what becomes of it in
/// run/training_settings.hpp.
struct TrainingOptions {
  TextOptions text = {};

  // model
  std::string model = "transformer";  // one of sized_models, or any name of the registry
  std::string size = {}, norm = {};   // of the former
  std::string layers = {};            // "3+3": replaces that of the size, as do the next three if they are not 0
  int width = 0, heads = 0, inner = 0;
  double dropout = 0, attention_dropout = 0, activation_dropout = 0;
  bool shared = true;  // one table for both embeddings and the output

  // training
  std::string recipe = "library";
  Index epochs = 0, batch = 0, accumulate = 1, patience = 0, validate_every = 0, warmup = 0;
  std::string batch_unit = {}, order = {}, schedule = {};
  double rate = 0, smoothing = 0.1, clip = 1, weight_decay = 0;
  std::string smoothing_over = "all";
  bool amsgrad = false;
  std::vector<std::string> freeze = {};  // names of parameters that are not trained, as Parameters::freeze takes them
  std::string bad_numbers = "stop";
  bool shard_optimiser = false, sums_after = false;
  std::string sums = "auto";
  std::string validate_with = "loss";
  double average_decay = 0;
  Index average_best = 0;
  Index test_beam = 1;
  std::uint64_t seed = 1;

  // results
  std::filesystem::path start_from = {};  // folder of a run whose weights this one begins with
  std::filesystem::path output = "runs/training";
  bool resume = false, overwrite = false;
  std::ostream* json = nullptr;  // gets the lines of the log too; none: words alone
  bool terminal = false;         // whether what it says is seen on one: then progress is a line that redraws itself
  Index limit = 256;             // tokens of a translation

  DeviceOptions device = {};
  std::set<std::string> given = {};      // names of the options that the command line or a file has
  std::set<std::string> suggested = {};  // and of those that a recipe has filled in

  bool own_shape() const { return !layers.empty() || width > 0 || heads > 0 || inner > 0; }

  /// The model's name in the registry: a preset, or an architecture that gets shape().
  std::string model_name() const {
    const std::string pre = norm == "pre" ? "-pre" : "";
    if (!has_sizes(model)) return model;
    return own_shape() ? (linformer_k(model) ? "linformer" : "transformer") + pre : model + "-" + size + pre;
  }

  /// The shape of a model that is no preset: that of the size, with the numbers that were given.
  std::optional<TransformerShape> shape() const {
    if (!has_sizes(model) || !own_shape()) return {};
    TransformerShape shape = find_preset_shape(size).value_or(base_shape);
    if (const auto counts = read_layers(layers)) std::tie(shape.encoder_layers, shape.decoder_layers) = *counts;
    if (width > 0) shape.width = width;
    if (heads > 0) shape.heads = heads;
    shape.inner = inner > 0 ? inner : width > 0 ? 4 * width : shape.inner;
    if (const auto k = linformer_k(model)) shape.linformer_k = *k, shape.linformer_n = preset_linformer_n;
    return shape;
  }
};

}  // namespace attn
