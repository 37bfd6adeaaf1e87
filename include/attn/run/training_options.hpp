#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <set>
#include <string>
#include <string_view>

#include "attn/run/device_options.hpp"
#include "attn/run/training_text.hpp"

namespace attn {

/// Models that have sizes and norms: the library's, whose names in the registry these complete.
inline constexpr std::array<const char*, 4> sized_models{"transformer", "linformer32", "linformer64", "linformer128"};

inline bool has_sizes(std::string_view model) {
  return std::find(sized_models.begin(), sized_models.end(), model) != sized_models.end();
}

/// Everything that a program which trains a translation model can be told, as words and numbers. Its command line is in
/// run/training_command_line.hpp, what to suggest for what was not given in run/training_recipe.hpp, and what becomes of it in
/// run/training_settings.hpp.
struct TrainingOptions {
  TextOptions text = {};

  // model
  std::string model = "transformer";  // one of sized_models, or any name of the registry
  std::string size = {}, norm = {};   // of the former
  double dropout = 0, attention_dropout = 0, activation_dropout = 0;
  bool shared = true;  // one table for both embeddings and the output

  // training
  std::string recipe = "library";
  Index epochs = 0, batch = 0, accumulate = 1, patience = 0, validate_every = 0, warmup = 0;
  std::string batch_unit = {}, order = {}, schedule = {};
  double rate = 0, smoothing = 0.1, clip = 1, weight_decay = 0;
  std::string smoothing_over = "all";
  bool amsgrad = false;
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

  /// The model's name in the registry.
  std::string model_name() const { return has_sizes(model) ? model + "-" + size + (norm == "pre" ? "-pre" : "") : model; }
};

}  // namespace attn
