#pragma once
#include "attn/run/run_folder.hpp"
#include "attn/train/json_text.hpp"
#include "attn/train/parse_json.hpp"

// Bodies of run_folder.hpp: compiled once in attn::compiled, or inline where a program does without it.

namespace attn {

ATTN_RUN_INLINE void write_run_card(const std::filesystem::path& folder, const RunCard& card) {
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

ATTN_RUN_INLINE RunCard read_run_card(const std::filesystem::path& folder) {
  using nlohmann::json;
  const auto path = folder / "model.json";
  require(std::filesystem::is_directory(folder), folder.string(), " is not a folder; name the folder of a training");
  require(has_run(folder), "there is no model.json in ", folder.string(),
          ": it is not the folder of a training, or one of attn before 0.2, whose models have to be trained again");
  try {
    std::size_t wrong = 0;
    const json file = parse_json(read_file(path), &wrong);
    require(file.is_object(), path.string(), " is damaged or was changed by hand: it is not JSON",
            wrong > 0 ? " from byte " + std::to_string(wrong) + " on" : "");
    const std::string where = path.string() + " is damaged or was changed by hand";
    const Index format = json_count(file, "format", 1, where);
    require(format <= run_format, path.string(), " is of format ", format,
            ", which a newer attn wrote; this one reads up to ", run_format, ": take the newer one");
    for (const char* side : {"source_vocabulary", "target_vocabulary"}) json_count(file.at("model"), side, 1, where);
    RunCard card{file.at("model").get<ModelSpec>(), load_tokenizer(file.at("source"), folder),
                 load_tokenizer(file.at("target"), folder)};
    card.source_language = file.at("source").value("language", "");
    card.target_language = file.at("target").value("language", "");
    for (const auto& [vocabulary, tokenizer] :
         {std::pair(card.model.source_vocabulary, &card.source), std::pair(card.model.target_vocabulary, &card.target)})
      require(vocabulary >= tokenizer->size() && vocabulary - tokenizer->size() < 1024, where, ": a model's vocabulary of ",
              vocabulary, " does not fit its tokenizer's, of ", tokenizer->size());
    require(!card.model.share_embeddings || card.model.source_vocabulary == card.model.target_vocabulary, where,
            ": its embeddings are one table, but its vocabularies are of ", card.model.source_vocabulary, " and ",
            card.model.target_vocabulary);
    card.truncate = json_count(file, "truncate", 1, where);
    card.limit = json_count(file, "limit", 1, where);
    card.suppress_unknown = file.at("suppress_unknown");
    card.settings = file.at("settings").get<Metadata>();
    require(file.at("seed").is_number_unsigned(), where, ": its 'seed' is not a whole number");
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

ATTN_RUN_INLINE void append_to_log(const std::filesystem::path& folder, const nlohmann::json& event) {
  const auto path = folder / "log.jsonl";
  std::ofstream out(path, std::ios::app);
  out << json_text(event) << '\n' << std::flush;
  require(out.good(), "cannot write the log ", path.string(), "; is the disk full?");
}

ATTN_RUN_INLINE std::string different_setting(const Metadata& then, const Metadata& now,
                                              const std::vector<std::string>& may_change) {
  for (const auto& [key, value] : now) {
    const auto was = then.find(key);
    if (was == then.end() || std::find(may_change.begin(), may_change.end(), key) != may_change.end()) continue;
    if (was->second != value) return key + " " + was->second + ", not " + value;
  }
  return "";
}

ATTN_RUN_INLINE void check_same_settings(const std::filesystem::path& folder, const Metadata& then, const Metadata& now,
                                         const std::vector<std::string>& may_change) {
  const std::string difference = different_setting(then, now, may_change);
  require(difference.empty(), "cannot resume ", folder.string(), ": it was begun with ", difference,
          "; give the options that it was begun with, or another folder");
}

}  // namespace attn
