#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/core/numbered_files.hpp"
#include "attn/decode/attention_folder.hpp"
#include "attn/run/corpus_folder.hpp"
#include "attn/run/model_registry.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/train/best_models.hpp"
#include "attn/train/parse_json.hpp"
#include "attn/train/tensorboard.hpp"

namespace attn {

/// Whether the run of a folder came to its end: its report is written last.
inline bool is_finished_run(const std::filesystem::path& folder) {
  return has_run(folder) && std::filesystem::exists(folder / "report.html");
}

namespace detail {

/// Translations of a run's tests: of one, or of those that outcome.json has scores of.
inline std::set<std::string, std::less<>> names_of_translations(const std::filesystem::path& folder) {
  std::set<std::string, std::less<>> names{"translations.txt"};
  if (!std::filesystem::is_regular_file(folder / "outcome.json")) return names;
  const nlohmann::json outcome = parse_json(read_file(folder / "outcome.json"));
  if (!outcome.is_object() || !outcome.contains("tests") || !outcome["tests"].is_object()) return names;
  for (const auto& [test, scores] : outcome["tests"].items()) names.insert("translations." + test + ".txt");
  return names;
}

}  // namespace detail

/// Removes what comes at the end of a run; before another run in its folder also the rest of it, and nothing else: only names
/// that a run itself writes, and folders that are empty then.
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
  std::filesystem::remove(folder / "model.json");  // last: until then it can be told that there is something to remove
}

/// Makes the model of a run, with first weights drawn from the card's seed, and writes the card to the run's folder, with the
/// model's shape and device, where an earlier run then leaves nothing behind. A run that goes on must have the settings that
/// it began with, except those in `may_change`. Of several ranks one writes.
/// The parameters named in `frozen` are not trained; a name that selects none is an error before the folder changes.
inline std::shared_ptr<AnyModel> begin_run(const std::filesystem::path& folder, RunCard& card, const DeviceOptions& device,
                                           bool resume = false, const std::vector<std::string>& may_change = {},
                                           bool writes = true, const std::vector<std::string>& frozen = {}) {
  std::shared_ptr<AnyModel> model = models().make(card.model, device, card.seed);
  for (const std::string& name : frozen) model->freeze(name);
  card.shape = model->shape();
  card.device = model->device();
  if (!writes) return model;
  if (resume)
    check_same_settings(folder, read_run_card(folder).settings, card.settings, may_change);
  else
    require_no_corpus(folder);
  clear_run(folder, resume);
  write_run_card(folder, card);
  return model;
}

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has the models
#include "attn/run/models.hpp"
#endif
