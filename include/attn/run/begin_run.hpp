#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attn/run/model_registry.hpp"
#include "attn/run/run_folder.hpp"

namespace attn {

/// Makes the model of a run, with first weights drawn from the card's seed, and writes the card to the run's folder, with the
/// model's shape and device. A run that goes on must have the settings that it began with, except those in `may_change`.
inline std::shared_ptr<AnyModel> begin_run(const std::filesystem::path& folder, RunCard& card, const DeviceOptions& device,
                                           bool resume = false, const std::vector<std::string>& may_change = {}) {
  std::shared_ptr<AnyModel> model = models().make(card.model, device, card.seed);
  card.shape = model->shape();
  card.device = model->device();
  if (resume) check_same_settings(folder, read_run_card(folder).settings, card.settings, may_change);
  write_run_card(folder, card);
  return model;
}

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has the models
#include "attn/run/models.hpp"
#endif
