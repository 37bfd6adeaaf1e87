#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/decode/search_options.hpp"
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
//   log.jsonl, curve.svg   how the training went; events.out.tfevents.* the same for TensorBoard
//   report.html            the same for people, with translations (run/run_report.hpp)
//   best/, maps/           the best weights of several validations; attention maps
//   translations.txt       the test, translated; of several tests translations.NAME.txt, scored in outcome.json

/// What model.json says.
struct RunCard {
  ModelSpec model;
  AnyTokenizer source, target;
  std::string source_language = "", target_language = "";
  Index truncate = 255;                      // tokens of a source sentence that the model was trained with
  Index limit = 256;                         // tokens of a translation
  bool suppress_unknown = false;             // no translation holds the unknown token
  std::optional<SearchOptions> search = {};  // instead of greedy decoding, where a folder of others says so
  Metadata settings = {};                    // of the training
  std::uint64_t seed = 1;
  std::string commit = "unknown";                   // of the program
  nlohmann::json shape = {};                        // of the model, in words and numbers
  std::string device = {};                          // that trained it
  nlohmann::json about = nlohmann::json::object();  // whatever else a program wants to be known
};

inline constexpr int run_format = 1;

/// Writes model.json and the tokenizers.
void write_run_card(const std::filesystem::path& folder, const RunCard& card);

/// Whether a run has begun there.
inline bool has_run(const std::filesystem::path& folder) { return std::filesystem::exists(folder / "model.json"); }

/// Reads model.json and the tokenizers, and checks that they belong together.
RunCard read_run_card(const std::filesystem::path& folder);

/// Adds an event to the log: a score, a remark. What is not UTF-8 in it becomes U+FFFD.
void append_to_log(const std::filesystem::path& folder, const nlohmann::json& event);

/// The first of these settings that was another when a run began, in words: "rate 0.1, not 0.2"; empty where none was. Those in
/// `may_change` are passed over.
std::string different_setting(const Metadata& then, const Metadata& now, const std::vector<std::string>& may_change = {});

/// Refuses to go on with settings that were others when the run began. Those in `may_change` may.
void check_same_settings(const std::filesystem::path& folder, const Metadata& then, const Metadata& now,
                         const std::vector<std::string>& may_change);

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has the bodies
#define ATTN_RUN_INLINE inline
#include "attn/run/run_folder_bodies.hpp"
#endif
