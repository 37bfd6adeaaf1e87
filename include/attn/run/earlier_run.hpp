#pragma once
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/run/corpus_folder.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/run/training_options.hpp"
#include "attn/train/parse_json.hpp"

namespace attn {

/// Refuses a folder that has a run, for a program that is told with --resume or --overwrite what is to become of it.
inline void require_no_earlier_run(const std::filesystem::path& folder) {
  require(!has_run(folder), "there is a run in ", folder.string(),
          " already: go on with it (--resume), replace it (--overwrite), or choose another folder (--output)");
}

/// The card of the run in the output folder, if the run is to go on; else none. The folder is the first rank's to judge.
/// Without --freeze, what the run had frozen stays frozen.
inline std::optional<RunCard> run_to_resume(TrainingOptions& options, bool leads = true) {
  if (!options.resume) {
    if (leads) require_no_corpus(options.output);
    if (leads && !options.overwrite) require_no_earlier_run(options.output);
    return std::nullopt;
  }
  RunCard card = read_run_card(options.output);
  require(std::filesystem::exists(options.output / "training.safetensors"), "the run in ", options.output.string(),
          " ended before its first checkpoint was written, so there is nothing to go on from: begin again (--overwrite)");
  const TextOptions& text = options.text;
  for (const auto& [name, option, given] :
       {std::tuple("text", "--train-source or --shards", !text.train_source.empty() || !text.shards.empty()),
        {"validation", "--valid-source", !text.valid_source.empty()},
        {"test", "--test-source", !text.test_source.empty()}}) {
    const std::string then = card.about.value(name, "");
    require(then.empty() || given, "the run in ", options.output.string(), " was begun with a ",
            name == std::string("text") ? "training" : name, " text, .../", then, ": give it again (", option,
            ") with its translation");
  }
  if (const auto freeze = card.settings.find("freeze");
      !options.given.contains("freeze") && freeze != card.settings.end()) {
    const nlohmann::json names = parse_json(freeze->second);
    require(names.is_array() && std::ranges::all_of(names, [](const auto& name) { return name.is_string(); }),
            (options.output / "model.json").string(), ": its setting freeze is not a list of names: ", freeze->second);
    options.freeze = names.get<std::vector<std::string>>();
  }
  return card;
}

/// The card of the run whose weights this one begins with, if any; the model is then of the same kind, whatever a recipe has
/// suggested.
inline std::optional<RunCard> run_to_start_from(TrainingOptions& options) {
  if (options.start_from.empty()) return std::nullopt;
  require(!std::filesystem::equivalent(options.start_from, options.output), "--start-from and --output are one folder, ",
          options.output.string(), ": choose another folder for the new run");
  RunCard card = read_run_card(options.start_from);
  for (const auto& [name, value] : {std::pair("model", &options.model), {"size", &options.size}, {"norm", &options.norm}}) {
    require(card.settings.contains(name), options.start_from.string(),
            " was made by a program with other options: its settings have no '", name, "'");
    require(!options.given.contains(name) || *value == card.settings.at(name), "--", name, " ", *value,
            " does not fit --start-from: the run in ", options.start_from.string(), " has ", card.settings.at(name));
    *value = card.settings.at(name);
  }
  for (const auto& [name, value] :
       {std::pair("width", &options.width), {"heads", &options.heads}, {"inner", &options.inner}}) {
    const auto before = card.settings.contains(name) ? read_size(card.settings.at(name)).value_or(0) : 0;
    require(!options.given.contains(name) || *value == before, "--", name, " ", *value,
            " does not fit --start-from: the run in ", options.start_from.string(), " has another shape");
    *value = before;
  }
  if (card.settings.contains("layers")) options.layers = card.settings.at("layers");
  options.shared = card.model.tie_output;
  return card;
}

/// The tokenizer of a run, if there is one.
inline std::optional<AnyTokenizer> tokenizer_of(const std::optional<RunCard>& card) {
  return card ? std::optional(card->source) : std::nullopt;
}

}  // namespace attn
