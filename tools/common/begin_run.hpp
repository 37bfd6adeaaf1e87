#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "attn/checkpoint/json.hpp"
#include "attn/core/file.hpp"
#include "attn/run/corpus_folder.hpp"
#include "attn/run/models.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "attn/train/tensorboard.hpp"
#include "common/draw_attention.hpp"

namespace attn {

/// Whether the folder's run is complete: its report is written last.
inline bool is_finished_run(const std::filesystem::path& folder) {
  return has_run(folder) && file_exists(folder / "report.html");
}

namespace detail {

/// File names of a run's test translations: translations.txt and one for each test in outcome.json.
inline std::set<std::string, std::less<>> names_of_translations(const std::filesystem::path& folder) {
  std::set<std::string, std::less<>> names{"translations.txt"};
  if (!is_file(folder / "outcome.json")) return names;
  const nlohmann::json outcome = parse_json(read_file(folder / "outcome.json"));
  if (!outcome.is_object() || !outcome.contains("tests") || !outcome["tests"].is_object()) return names;
  for (const auto& [test, scores] : outcome["tests"].items()) names.insert("translations." + test + ".txt");
  return names;
}

}  // namespace detail

/// Removes the final outputs of a run, and all of its files unless it is resumed. Touches only files that a run writes and
/// folders that are then empty.
inline void clear_run(const std::filesystem::path& folder, bool resume) {
  if (!has_run(folder)) return;
  const std::set<std::string, std::less<>> translations = detail::names_of_translations(folder);
  remove_files(folder, [&](std::string_view name) { return translations.contains(name); });
  remove_files(folder, [](std::string_view name) { return name == "report.html" || name == "outcome.json"; });
  AttentionFolder::remove_maps(folder / "maps");
  remove_if_empty(folder / "maps");
  if (resume) return;
  BestModels::remove(folder);
  remove_files(folder, [](std::string_view name) {
    return name == "model.safetensors" || name == "training.safetensors" || name == "log.jsonl" || name == "curve.svg" ||
           TensorBoard::is_file(name);
  });
  std::filesystem::remove(folder / "model.json");  // last, so that an interrupted removal can be repeated
}

/// Creates the model with weights initialized from the config's seed. Writes the config, with the model's shape and device,
/// to the folder and removes outputs of an earlier run. A resumed run must keep its settings except those in `may_change`.
/// Only the rank with `writes` changes the folder. Parameters named in `frozen` are not trained; a name that matches none
/// is an error, raised before the folder changes.
inline std::shared_ptr<AnyModel> begin_run(const std::filesystem::path& folder, RunConfig& config,
                                           const DeviceOptions& device, bool resume = false,
                                           const std::vector<std::string>& may_change = {}, bool writes = true,
                                           const std::vector<std::string>& frozen = {}) {
  std::shared_ptr<AnyModel> model = models().make(config.model, device, config.seed);
  for (const std::string& name : frozen) model->freeze(name);
  config.shape = model->shape();
  config.device = model->device();
  if (!writes) return model;
  if (resume)
    check_same_settings(folder, read_run_config(folder).settings, config.settings, may_change);
  else
    require_no_corpus(folder);
  clear_run(folder, resume);
  write_run_config(folder, config);
  return model;
}

}  // namespace attn
