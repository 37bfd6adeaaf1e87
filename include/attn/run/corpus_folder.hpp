#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/data/shard_maker.hpp"
#include "attn/data/sharded_corpus.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/run/tokenizer_files.hpp"
#include "attn/train/json_text.hpp"
#include "attn/train/parse_json.hpp"

namespace attn {

// A corpus's folder: a text as tokens, ready to train on.
//
//   corpus.json                     the tokenizers, the shards, how the text was read
//   00000.shard, 00001.shard, ...   its pairs (data/shard.hpp)
//   source.*, target.*              the tokenizers; one, tokenizer.*, where both sides have the same

inline constexpr int corpus_format = 1;

namespace detail {

inline nlohmann::json read_corpus_card(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "corpus.json";
  require(std::filesystem::exists(path), folder.string(),
          " holds no corpus of shards: there is no corpus.json in it; make one with the program tokenize");
  const auto card = parse_json(read_file(path));
  require(card.is_object() && card.contains("format") && card["format"].is_number_integer(), path.string(),
          " is damaged or not a corpus's; make the shards again");
  require(card["format"] == corpus_format, path.string(), " has the format ", card["format"].dump(),
          ", and this program reads ", corpus_format, "; make the shards again, or use the attn that made them");
  return card;
}

inline nlohmann::json lengths_card(const LengthStatistics& lengths) {
  return {{"average", lengths.average()}, {"shortest", lengths.shortest()}, {"longest", lengths.longest()}};
}

}  // namespace detail

/// Two tokenizers that lie in a folder.
struct CorpusTokenizers {
  AnyTokenizer source, target;
};

/// Refuses the folder of a run: a corpus would replace the model's tokenizer, which has the same names.
inline void require_no_run(const std::filesystem::path& folder) {
  require(!has_run(folder), folder.string(),
          " holds a trained model (model.json), whose tokenizer a corpus would replace: choose another folder");
}

/// Refuses the folder of a corpus, complete or not: a run would replace its tokenizers.
inline void require_no_corpus(const std::filesystem::path& folder) {
  require(!std::filesystem::exists(folder / "corpus.json"), folder.string(),
          " holds a corpus of shards (corpus.json), whose tokenizer a run would replace: choose another folder (--output)");
}

/// Begins a corpus: writes its tokenizers, and what they were made of (any words, compared when it is made again).
inline void begin_corpus(const std::filesystem::path& folder, const CorpusTokenizers& tokenizers,
                         const std::string& made_of) {
  require_no_run(folder);
  const bool same = tokenizers.source.hash() == tokenizers.target.hash();
  const nlohmann::json source = save_tokenizer(tokenizers.source, folder, same ? "tokenizer" : "source");
  const nlohmann::json card{{"format", corpus_format},
                            {"complete", false},
                            {"made_of", made_of},
                            {"source", source},
                            {"target", same ? source : save_tokenizer(tokenizers.target, folder, "target")}};
  write_file(folder / "corpus.json", json_text(card, 1) + "\n");
}

/// Completes it: lists the shards, in order, with what `about` says of the text.
inline void complete_corpus(const std::filesystem::path& folder, const MadeShards& made, const nlohmann::json& about = {}) {
  nlohmann::json card = detail::read_corpus_card(folder);
  card["complete"] = true;
  card["pairs"] = made.pairs;
  card["tokens"] = made.tokens;
  card["lengths"] = {{"source", detail::lengths_card(made.source)}, {"target", detail::lengths_card(made.target)}};
  card["text"] = about;
  card["shards"] = nlohmann::json::array();
  for (const std::filesystem::path& file : made.files) card["shards"].push_back(file.filename().string());
  write_file(folder / "corpus.json", json_text(card, 1) + "\n");
}

/// Whether a folder has a corpus or parts of one: shards.
inline bool has_corpus(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) return false;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".shard") return true;
  return false;
}

/// What it was made of, as begin_corpus was told; "" where that cannot be known.
inline std::string corpus_made_of(const std::filesystem::path& folder) {
  try {
    return detail::read_corpus_card(folder).at("made_of").get<std::string>();
  } catch (const std::exception&) {
    return "";
  }
}

/// The tokenizers of a corpus that was begun, complete or not, if they were made of the same.
inline std::optional<CorpusTokenizers> tokenizers_of_corpus(const std::filesystem::path& folder,
                                                            const std::string& made_of) {
  if (!std::filesystem::exists(folder / "corpus.json")) return std::nullopt;
  try {
    const nlohmann::json card = detail::read_corpus_card(folder);
    if (card.at("made_of") != made_of) return std::nullopt;
    return CorpusTokenizers{load_tokenizer(card.at("source"), folder), load_tokenizer(card.at("target"), folder)};
  } catch (const std::exception&) {  // whatever is wrong with them, they are made again
    return std::nullopt;
  }
}

/// A corpus as training reads it.
struct OpenCorpus {
  CorpusTokenizers tokenizers;
  ShardedCorpus pairs;
};

/// Opens it, with the first `truncate` tokens of each sentence. All bytes are read once and compared with their checksums: a
/// damaged token that is still one of the vocabulary would be learnt without a word.
inline OpenCorpus open_corpus(const std::filesystem::path& folder, Index truncate = keep_all_tokens) {
  const nlohmann::json card = detail::read_corpus_card(folder);
  try {
    require(card.at("complete").get<bool>(), folder.string(),
            " is not complete: making it was stopped; repeat the command that made it, which goes on where it was");
    std::vector<std::filesystem::path> files;
    for (const auto& name : card.at("shards"))
      files.push_back(folder / std::filesystem::path(name.get<std::string>()).filename());
    require(!files.empty(), folder.string(), " has no pairs: nothing to train on");
    OpenCorpus corpus{{load_tokenizer(card.at("source"), folder), load_tokenizer(card.at("target"), folder)},
                      ShardedCorpus(files, truncate)};
    corpus.pairs.require_tokenizers(corpus.tokenizers.source, corpus.tokenizers.target);
    require(corpus.pairs.size() == card.at("pairs").get<Index>(), folder.string(), " has shards of ",
            counted(corpus.pairs.size(), "pair"), ", and corpus.json says ", card.at("pairs").dump(),
            "; make the shards again");
    corpus.pairs.verify();
    return corpus;
  } catch (const nlohmann::json::exception& error) {
    fail((folder / "corpus.json").string(), " is damaged (", error.what(), "); make the shards again");
  }
}

}  // namespace attn
