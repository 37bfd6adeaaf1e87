#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/run/corpus_folder.hpp"
#include "attn/run/model_registry.hpp"
#include "attn/run/run_folder.hpp"

namespace attn {

/// Whether the run of a folder came to its end: its report is written last.
inline bool is_finished_run(const std::filesystem::path& folder) {
  return has_run(folder) && std::filesystem::exists(folder / "report.html");
}

/// Removes what comes at the end of a run; before another run in its folder also the rest of it, and nothing else.
inline void clear_run(const std::filesystem::path& folder, bool resume) {
  if (!has_run(folder)) return;
  const auto is_result = [](std::string_view name) {
    return name == "report.html" || name == "outcome.json" || name == "maps" ||
           (name.starts_with("translations.") && name.ends_with(".txt"));
  };
  const auto is_part = [](std::string_view name) {
    return name == "model.safetensors" || name == "training.safetensors" || name == "best" || name == "log.jsonl" ||
           name == "curve.svg" || (name.starts_with("events.out.tfevents.") && name.ends_with(".attn"));
  };
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (is_result(name) || (!resume && is_part(name))) left.push_back(entry.path());
  }
  if (!resume) left.push_back(folder / "model.json");  // last: until then it can be told that there is something to remove
  for (const auto& path : left) std::filesystem::remove_all(path);
}

/// Makes the model of a run, with first weights drawn from the card's seed, and writes the card to the run's folder, with the
/// model's shape and device, where an earlier run then leaves nothing behind. A run that goes on must have the settings that
/// it began with, except those in `may_change`. Of several ranks one writes.
inline std::shared_ptr<AnyModel> begin_run(const std::filesystem::path& folder, RunCard& card, const DeviceOptions& device,
                                           bool resume = false, const std::vector<std::string>& may_change = {},
                                           bool writes = true) {
  std::shared_ptr<AnyModel> model = models().make(card.model, device, card.seed);
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
