#pragma once
#include "attn/data/shard_maker.hpp"
#include "attn/data/sharded_corpus.hpp"
#include "attn/run/run_folder.hpp"

namespace attn {

// The folder of a tokenized corpus, ready to train on.
//
//   corpus.json                     tokenizers, shards, and how the text was read
//   00000.shard, 00001.shard, ...   its pairs (data/sharded_corpus.hpp)
//   source.*, target.*              the tokenizers; a single tokenizer.* if both sides share it

inline constexpr int corpus_format = 1;

namespace detail {

inline nlohmann::json read_corpus_config(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "corpus.json";
  require(file_exists(path), folder.string(), " contains no shards: it has no corpus.json. Create them with tokenize.");
  const auto config = parse_json(read_file(path));
  require(config.is_object() && config.contains("format") && config["format"].is_number_integer(), path.string(),
          " is damaged, or another kind of file. Create the shards again.");
  require(config["format"] == corpus_format, path.string(), " has format ", config["format"].dump(),
          ", but this program reads format ", corpus_format,
          ". Create the shards again, or use the version of attn that created them.");
  return config;
}

}  // namespace detail

struct CorpusTokenizers {
  AnyTokenizer source, target;
};

/// Rejects a run's folder: the corpus would overwrite its tokenizer files.
inline void require_no_run(const std::filesystem::path& folder) {
  require(!has_run(folder), folder.string(),
          " contains a trained model (model.json); shards would overwrite its tokenizer. Choose another folder.");
}

/// Rejects the folder of a corpus, complete or not: a run would overwrite its tokenizers.
inline void require_no_corpus(const std::filesystem::path& folder) {
  require(!file_exists(folder / "corpus.json"), folder.string(),
          " contains shards (corpus.json); a run would overwrite their tokenizer. Choose another folder (--output).");
}

/// Starts a corpus: writes the tokenizers and `made_of`, any text that identifies their origin.
inline void begin_corpus(const std::filesystem::path& folder, const CorpusTokenizers& tokenizers,
                         const std::string& made_of) {
  require_no_run(folder);
  const bool same = tokenizers.source.hash() == tokenizers.target.hash();
  const nlohmann::json source = save_tokenizer(tokenizers.source, folder, same ? "tokenizer" : "source");
  const nlohmann::json config{{"format", corpus_format},
                              {"complete", false},
                              {"made_of", made_of},
                              {"source", source},
                              {"target", same ? source : save_tokenizer(tokenizers.target, folder, "target")}};
  write_file(folder / "corpus.json", json_text(config, 1) + "\n");
}

/// Completes a corpus: lists the shards in order, and adds `about` as a description of the text.
inline void complete_corpus(const std::filesystem::path& folder, const MadeShards& made, const nlohmann::json& about = {}) {
  nlohmann::json config = detail::read_corpus_config(folder);
  for (const auto& [side, lengths] : {std::pair("source", &made.source), std::pair("target", &made.target)})
    config["lengths"][side] = {
        {"average", lengths->average()}, {"shortest", lengths->shortest()}, {"longest", lengths->longest()}};
  config["complete"] = true;
  config["pairs"] = made.pairs;
  config["tokens"] = made.tokens;
  config["text"] = about;
  config["shards"] = nlohmann::json::array();
  for (const std::filesystem::path& file : made.files) config["shards"].push_back(file.filename().string());
  write_file(folder / "corpus.json", json_text(config, 1) + "\n");
}

/// Whether a folder contains shards, complete or not.
inline bool has_corpus(const std::filesystem::path& folder) {
  if (!is_folder(folder)) return false;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".shard") return true;
  return false;
}

/// The `made_of` text given to begin_corpus; "" if unknown.
inline std::string corpus_made_of(const std::filesystem::path& folder) {
  try {
    return detail::read_corpus_config(folder).at("made_of").get<std::string>();
  } catch (const std::exception&) {
    return "";
  }
}

/// The tokenizers of a corpus, complete or not, if its `made_of` is the same.
inline std::optional<CorpusTokenizers> tokenizers_of_corpus(const std::filesystem::path& folder,
                                                            const std::string& made_of) {
  if (!file_exists(folder / "corpus.json")) return std::nullopt;
  try {
    const nlohmann::json config = detail::read_corpus_config(folder);
    if (config.at("made_of") != made_of) return std::nullopt;
    return CorpusTokenizers{load_tokenizer(config.at("source"), folder), load_tokenizer(config.at("target"), folder)};
  } catch (const std::exception&) {  // damaged tokenizers are made again
    return std::nullopt;
  }
}

/// A corpus opened for training.
struct OpenCorpus {
  CorpusTokenizers tokenizers;
  ShardedCorpus pairs;
};

/// Opens a corpus, limited to the first `truncate` tokens of each sentence. Verifies the checksums of all bytes, because
/// training would not notice a damaged token that is still in the vocabulary.
inline OpenCorpus open_corpus(const std::filesystem::path& folder, Index truncate = keep_all_tokens) {
  const nlohmann::json config = detail::read_corpus_config(folder);
  try {
    require(config.at("complete").get<bool>(), folder.string(),
            " is incomplete: the command that created it was stopped. Repeat that command to resume it.");
    std::vector<std::filesystem::path> files;
    for (const auto& name : config.at("shards"))
      files.push_back(folder / std::filesystem::path(name.get<std::string>()).filename());
    require(!files.empty(), folder.string(), " has no pairs to train on");
    OpenCorpus corpus{{load_tokenizer(config.at("source"), folder), load_tokenizer(config.at("target"), folder)},
                      ShardedCorpus(files, truncate)};
    corpus.pairs.require_tokenizers(corpus.tokenizers.source, corpus.tokenizers.target);
    require(corpus.pairs.size() == config.at("pairs").get<Index>(), folder.string(), " has shards of ",
            counted(corpus.pairs.size(), "pair"), ", but corpus.json says ", config.at("pairs").dump(),
            ". Create the shards again.");
    corpus.pairs.verify();
    return corpus;
  } catch (const nlohmann::json::exception& error) {
    fail((folder / "corpus.json").string(), " is damaged (", error.what(), "). Create the shards again.");
  }
}

}  // namespace attn
