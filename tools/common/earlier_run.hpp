#pragma once
#include <filesystem>
#include <tuple>

#include "attn/core/error.hpp"
#include "attn/run/corpus_folder.hpp"
#include "attn/run/run_folder.hpp"
#include "common/training_command_line.hpp"

namespace attn {

/// Throws if the folder already has a run. For programs with --resume and --overwrite.
inline void require_no_earlier_run(const std::filesystem::path& folder) {
  require(!has_run(folder), folder.string(),
          " already contains a run. Resume it (--resume), replace it (--overwrite), or choose another folder (--output).");
}

/// The config of the run in the output folder if it is resumed, else nullopt. Only the rank with `leads` checks the folder.
/// Without --freeze, the run's frozen parameters stay frozen.
inline std::optional<RunConfig> run_to_resume(TrainingOptions& options, bool leads = true) {
  if (!options.resume) {
    if (leads) require_no_corpus(options.output);
    if (leads && !options.overwrite) require_no_earlier_run(options.output);
    return std::nullopt;
  }
  RunConfig config = read_run_config(options.output);
  require(file_exists(options.output / "training.safetensors"), "the run in ", options.output.string(),
          " ended before its first checkpoint and cannot be resumed. Start again (--overwrite).");
  const TextOptions& text = options.text;
  for (const auto& [name, option, given] :
       {std::tuple("text", "--train-source or --shards", !text.train_source.empty() || !text.shards.empty()),
        {"validation", "--valid-source", !text.valid_source.empty()},
        {"test", "--test-source", !text.test_source.empty()}}) {
    const std::string then = config.about.value(name, "");
    require(then.empty() || given, "the run in ", options.output.string(), " used the ",
            name == std::string("text") ? "training" : name, " text .../", then, ". Pass it again (", option,
            "), with its translation.");
  }
  if (const auto freeze = config.settings.find("freeze");
      !options.given.contains("freeze") && freeze != config.settings.end())
    read_settings(options, {*freeze}, (options.output / "model.json").string());
  return config;
}

/// The config of the run that provides the initial weights, if any. The model then has the same architecture, even if a
/// recipe suggests another.
inline std::optional<RunConfig> run_to_start_from(TrainingOptions& options) {
  if (options.start_from.empty()) return std::nullopt;
  require(!std::filesystem::equivalent(options.start_from, options.output),
          "--start-from and --output are the same folder, ", options.output.string(),
          ". Choose another folder for the new run.");
  RunConfig config = read_run_config(options.start_from);
  const Metadata own = settings_of(options), unset = settings_of({});
  Metadata architecture;
  for (const std::string name : {"model", "size", "norm", "layers", "width", "heads", "inner"}) {
    const auto found = config.settings.find(name);
    const bool in_all = name == "model" || name == "size" || name == "norm";
    require(found != config.settings.end() || !in_all, options.start_from.string(),
            " was created by a program with other options: its settings have no '", name, "'");
    const std::string& then = architecture[name] = found != config.settings.end() ? found->second : unset.at(name);
    require(!options.given.contains(name) || own.at(name) == then, "--", name, " ", own.at(name),
            " conflicts with --start-from: the run in ", options.start_from.string(), " has ",
            in_all ? then : "another shape");
  }
  read_settings(options, architecture, (options.start_from / "model.json").string());
  options.shared = config.model.tie_output;
  return config;
}

/// The tokenizers of a run, if any.
inline std::optional<CorpusTokenizers> tokenizers_of(const std::optional<RunConfig>& config) {
  return config ? std::optional(CorpusTokenizers{config->source, config->target}) : std::nullopt;
}

}  // namespace attn
