#pragma once
#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include "attn/checkpoint/json.hpp"
#include "attn/core/checksum.hpp"
#include "attn/run/run_config.hpp"
#include "attn/run/tokenizer_files.hpp"
#include "attn/version.hpp"

namespace attn {

// A run's folder: everything needed to translate with a trained model and to resume its training.
//
//   model.json             the model, its tokenizers and settings, program, commit and machine, and a checksum
//   model.safetensors      the best weights so far
//   training.safetensors   the state to resume from
//   source.*, target.*     the tokenizers; a single tokenizer.* if both sides share it
//   log.jsonl, curve.svg   training log and learning curve; events.out.tfevents.* for TensorBoard
//   report.html            a readable report with translations (tools/common/run_report.hpp)
//   best/, maps/           the best weights of several validations; attention maps
//   translations.txt       translations of the test set; translations.NAME.txt for several; outcome.json has the scores

/// "AMD EPYC 9654, 16 cores"; the architecture if the system does not name the processor.
inline std::string processor_name() {
  std::string name = "unknown processor";
  if (utsname system; ::uname(&system) == 0) name = system.machine;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name") && line.find(": ") != line.npos) name = line.substr(line.find(": ") + 2);
  return name + ", " + counted(std::thread::hardware_concurrency(), "core");
}

inline constexpr int run_format = 1;

/// Whether a run was started in this folder.
inline bool has_run(const std::filesystem::path& folder) { return file_exists(folder / "model.json"); }

namespace detail {

inline std::string checksum_of(const nlohmann::json& file) {
  const std::string text = file.dump();
  return Checksum(text.data(), std::ssize(text)).text();
}

}  // namespace detail

inline void write_run_config(const std::filesystem::path& folder, const RunConfig& config) {
  using nlohmann::json;
  const bool one = config.source.hash() == config.target.hash();
  const auto side = [&](const AnyTokenizer& tokenizer, const char* stem, const std::string& language) {
    json about = save_tokenizer(tokenizer, folder, one ? "tokenizer" : stem);
    if (!language.empty()) about["language"] = language;
    return about;
  };
  json file{{"format", run_format},
            {"attn", {{"version", ATTN_VERSION}, {"commit", config.commit}}},
            {"model", config.model},
            {"shape", config.shape},
            {"source", side(config.source, "source", config.source_language)},
            {"target", side(config.target, "target", config.target_language)},
            {"truncate", config.truncate},
            {"limit", config.limit},
            {"suppress_unknown", config.suppress_unknown},
            {"settings", config.settings},
            {"seed", config.seed},
            {"machine", {{"processor", processor_name()}, {"device", config.device}}},
            {"about", config.about}};
  file["checksum"] = detail::checksum_of(file);
  write_file(folder / "model.json", file.dump(2) + "\n");
}

/// Reads model.json and the tokenizers, and checks that they match.
inline RunConfig read_run_config(const std::filesystem::path& folder) {
  using nlohmann::json;
  const auto path = folder / "model.json";
  require(is_folder(folder), folder.string(), " is not a folder. Name the folder of a run.");
  require(has_run(folder), "there is no model.json in ", folder.string(),
          ": it is not a run folder, or attn 0.1 wrote it. Retrain 0.1 models.");
  try {
    std::size_t wrong = 0;
    json file = parse_json(read_file(path), &wrong);
    require(file.is_object(), path.string(), " is damaged or was changed by hand: it is not JSON",
            wrong > 0 ? " from byte " + std::to_string(wrong) + " on" : "");
    const std::string where = path.string() + " is damaged or was changed by hand";
    const Index format = json_count(file, "format", 1, where);
    require(format <= run_format, path.string(), " has format ", format, ", but this version reads at most ", run_format,
            ". Update attn.");
    if (const auto checksum = file.find("checksum"); checksum != file.end()) {  // absent before attn 0.3
      const json value = *checksum;
      file.erase(checksum);
      require(value == detail::checksum_of(file), where,
              ": checksum mismatch. If you edited the file, remove the entry 'checksum'.");
    }
    for (const char* side : {"source_vocabulary", "target_vocabulary"}) json_count(file.at("model"), side, 1, where);
    const AnyTokenizer source = load_tokenizer(file.at("source"), folder);
    json of_source = file.at("source"), of_target = file.at("target");
    for (json* about : {&of_source, &of_target}) about->erase("language");
    const bool shared = of_source == of_target;
    RunConfig config{file.at("model").get<ModelSpec>(), source,
                     shared ? source : load_tokenizer(file.at("target"), folder)};
    config.source_language = file.at("source").value("language", "");
    config.target_language = file.at("target").value("language", "");
    for (const auto& [vocabulary, tokenizer] : {std::pair(config.model.source_vocabulary, &config.source),
                                                std::pair(config.model.target_vocabulary, &config.target)})
      require(vocabulary >= tokenizer->size() && vocabulary - tokenizer->size() < 1024, where, ": a model's vocabulary of ",
              vocabulary, " does not match its tokenizer's, of ", tokenizer->size());
    require(!config.model.share_embeddings || config.model.source_vocabulary == config.model.target_vocabulary, where,
            ": shared embeddings need vocabularies of equal size, not ", config.model.source_vocabulary, " and ",
            config.model.target_vocabulary);
    config.truncate = json_count(file, "truncate", 1, where);
    config.limit = json_count(file, "limit", 1, where);
    config.suppress_unknown = file.at("suppress_unknown");
    config.settings = file.at("settings").get<Metadata>();
    require(file.at("seed").is_number_unsigned(), where, ": its 'seed' is not a whole number");
    config.seed = file.at("seed");
    config.commit = file.at("attn").at("commit");
    config.shape = file.at("shape");
    config.device = file.at("machine").at("device");
    config.about = file.at("about");
    return config;
  } catch (const json::exception& error) {
    fail(path.string(), " is damaged or was changed by hand: ", error.what());
  }
}

/// Appends an event to the log, such as a score. Replaces invalid UTF-8 by U+FFFD.
inline void append_to_log(const std::filesystem::path& folder, const nlohmann::json& event) {
  const auto path = folder / "log.jsonl";
  std::ofstream out(path, std::ios::app);
  out << json_text(event) << '\n' << std::flush;
  require(out.good(), "cannot write the log ", path.string(), "; is the disk full?");
}

/// Describes the first setting in `now` that differs from `then`: "rate 0.1, not 0.2". Ignores keys in `may_change`. Empty
/// if all are equal.
inline std::string different_setting(const Metadata& then, const Metadata& now,
                                     const std::vector<std::string>& may_change = {}) {
  for (const auto& [key, value] : now) {
    const auto was = then.find(key);
    if (was == then.end() || std::find(may_change.begin(), may_change.end(), key) != may_change.end()) continue;
    if (was->second != value) return key + " " + was->second + ", not " + value;
  }
  return "";
}

/// Rejects settings that differ from those at the start of the run, except keys in `may_change`.
inline void check_same_settings(const std::filesystem::path& folder, const Metadata& then, const Metadata& now,
                                const std::vector<std::string>& may_change) {
  const std::string difference = different_setting(then, now, may_change);
  require(difference.empty(), "cannot resume ", folder.string(), ": the run started with ", difference,
          ". Use the same options, or choose another --output.");
}

}  // namespace attn
