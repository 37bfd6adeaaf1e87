#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/run/machine.hpp"
#include "attn/run/model_spec.hpp"
#include "attn/run/tokenizer_files.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/version.hpp"

namespace attn {

// A run's folder: what a training leaves, and what it takes to translate with it.
//
//   model.json             which model, its tokenizers, its settings, who made it where
//   model.safetensors      the best weights so far
//   training.safetensors   all it takes to go on
//   source.*, target.*     the tokenizers; one, tokenizer.*, where both sides have the same
//   log.jsonl, curve.svg   how the training went

/// What model.json says.
struct RunCard {
  ModelSpec model;
  AnyTokenizer source, target;
  std::string source_language = "", target_language = "";
  Index truncate = 255;           // tokens of a source sentence that the model was trained with
  Index limit = 256;              // tokens of a translation
  bool suppress_unknown = false;  // no translation holds the unknown token
  Metadata settings = {};         // of the training
  std::uint64_t seed = 1;
  std::string commit = "unknown";                   // of the program
  nlohmann::json shape = {};                        // of the model, in words and numbers
  std::string device = {};                          // that trained it
  nlohmann::json about = nlohmann::json::object();  // whatever else a program wants to be known
};

inline constexpr int run_format = 1;

/// Writes model.json and the tokenizers.
inline void write_run_card(const std::filesystem::path& folder, const RunCard& card) {
  using nlohmann::json;
  const bool one = card.source.hash() == card.target.hash();
  const auto side = [&](const AnyTokenizer& tokenizer, const char* stem, const std::string& language) {
    json about = save_tokenizer(tokenizer, folder, one ? "tokenizer" : stem);
    if (!language.empty()) about["language"] = language;
    return about;
  };
  const json file{{"format", run_format},
                  {"attn", {{"version", ATTN_VERSION}, {"commit", card.commit}}},
                  {"model", card.model},
                  {"shape", card.shape},
                  {"source", side(card.source, "source", card.source_language)},
                  {"target", side(card.target, "target", card.target_language)},
                  {"truncate", card.truncate},
                  {"limit", card.limit},
                  {"suppress_unknown", card.suppress_unknown},
                  {"settings", card.settings},
                  {"seed", card.seed},
                  {"machine", {{"processor", processor_name()}, {"device", card.device}}},
                  {"about", card.about}};
  write_file(folder / "model.json", file.dump(2) + "\n");
}

/// Whether a run has begun there.
inline bool has_run(const std::filesystem::path& folder) { return std::filesystem::exists(folder / "model.json"); }

/// Reads model.json and the tokenizers, and checks that they belong together.
inline RunCard read_run_card(const std::filesystem::path& folder) {
  using nlohmann::json;
  const auto path = folder / "model.json";
  require(std::filesystem::is_directory(folder), folder.string(), " is not a folder; name the folder of a training");
  require(has_run(folder), "there is no model.json in ", folder.string(),
          ": it is not the folder of a training, or one of attn before 0.2, whose models have to be trained again");
  try {
    const json file = json::parse(read_file(path));
    const int format = file.at("format").get<int>();
    require(format <= run_format, path.string(), " is of format ", format,
            ", which a newer attn wrote; this one reads up to ", run_format, ": take the newer one");
    RunCard card{file.at("model").get<ModelSpec>(), load_tokenizer(file.at("source"), folder),
                 load_tokenizer(file.at("target"), folder)};
    card.source_language = file.at("source").value("language", "");
    card.target_language = file.at("target").value("language", "");
    card.truncate = file.at("truncate");
    card.limit = file.at("limit");
    card.suppress_unknown = file.at("suppress_unknown");
    card.settings = file.at("settings").get<Metadata>();
    card.seed = file.at("seed");
    card.commit = file.at("attn").at("commit");
    card.shape = file.at("shape");
    card.device = file.at("machine").at("device");
    card.about = file.at("about");
    return card;
  } catch (const json::exception& error) {
    fail(path.string(), " is damaged or was changed by hand: ", error.what());
  }
}

/// Adds an event to the log: a score, a remark.
inline void append_to_log(const std::filesystem::path& folder, const nlohmann::json& event) {
  const auto path = folder / "log.jsonl";
  std::ofstream out(path, std::ios::app);
  out << event.dump() << '\n' << std::flush;
  require(out.good(), "cannot write the log ", path.string(), "; is the disk full?");
}

/// Refuses to go on with settings that were others when the run began. Those in `may_change` may.
inline void check_same_settings(const std::filesystem::path& folder, const Metadata& then, const Metadata& now,
                                const std::vector<std::string>& may_change) {
  for (const auto& [key, value] : now) {
    const auto was = then.find(key);
    if (was == then.end() || std::find(may_change.begin(), may_change.end(), key) != may_change.end()) continue;
    require(was->second == value, "cannot resume ", folder.string(), ": it was begun with ", key, " ", was->second,
            ", not ", value, "; give the options of the run that was stopped, or another folder");
  }
}

}  // namespace attn
