#include "model_folder.hpp"

#include <nlohmann/json.hpp>

#include "attn/data/parallel_corpus.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/text/word_vocabulary_files.hpp"
#include "attn/train/safetensors.hpp"

using namespace attn;
using namespace papers;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// An entry of a checkpoint's metadata.
const std::string& entry(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  require(found != file.metadata().end(), file.path().string(), " does not say its ", key,
          "; it is not a model of wmt14_train or europarl_train");
  return found->second;
}

void check_hash(const SafetensorsFile& file, const std::string& key, std::uint64_t found, const fs::path& vocabulary) {
  require(entry(file, key) == std::to_string(found), vocabulary.string(), " is not the vocabulary that ",
          file.path().string(), " was trained with; copy the folder whole");
}

/// wmt14_train: byte-level BPE of both languages together.
ModelFolder open_wmt14(const fs::path& folder, const SafetensorsFile& file) {
  const fs::path vocab = folder / "vocab.json";
  const ByteBpe tokenizer = load_byte_bpe(vocab, folder / "merges.txt");
  check_hash(file, "tokenizer.hash", tokenizer.hash(), vocab);
  return {.weights = file.path(),
          .model = entry(file, "model"),
          .size = entry(file, "size"),
          .source = TextSide(tokenizer),
          .target = TextSide(tokenizer),
          .truncate = std::stoll(entry(file, "truncate")) - 1,  // a mark is added
          .limit = 256,
          .shared = entry(file, "shared") == "yes"};
}

TextSide words(const fs::path& folder, const json& card, const char* side, const SafetensorsFile& file) {
  const fs::path path = folder / card.at(side).at("vocabulary").get<std::string>();
  WordVocabulary vocabulary = load_word_vocabulary(path);
  check_hash(file, std::string(side) + ".hash", vocabulary.hash(), path);
  std::optional<Language> plain;
  if (card.at("words") == "plain") plain = card.at(side).at("language") == "en" ? Language::english : Language::german;
  return TextSide(std::move(vocabulary), plain);
}

/// europarl_train: a row of a table, a vocabulary of words for each language. model.json says the rest.
ModelFolder open_europarl(const fs::path& folder, const SafetensorsFile& file) try {
  const json card = json::parse(read_file(folder / "model.json"));
  TextSide source = words(folder, card, "source", file), target = words(folder, card, "target", file);
  const Token never = card.at("says_unknown").get<bool>() ? Token{-1} : target.unknown();
  return {.weights = file.path(),
          .model = card.at("model"),
          .size = "small",
          .source = std::move(source),
          .target = std::move(target),
          .truncate = keep_all_tokens,
          .limit = card.at("limit"),
          .never = never};
} catch (const json::exception& error) {
  fail((folder / "model.json").string(), " is not what europarl_train writes now: ", error.what());
}

}  // namespace

ModelFolder open_model_folder(const fs::path& folder) {
  require(fs::is_directory(folder), folder.string(), " is not a folder; name one that wmt14_train or europarl_train wrote");
  const fs::path weights = folder / "model.safetensors";
  require(fs::exists(weights), "there is no model.safetensors in ", folder.string(),
          "; name the folder of a training (--output of wmt14_train), or wait for its first validation");
  const SafetensorsFile file(weights);
  if (fs::exists(folder / "model.json")) return open_europarl(folder, file);
  if (fs::exists(folder / "vocab.json")) return open_wmt14(folder, file);
  fail("there is neither a model.json nor a vocab.json beside ", weights.string(),
       ", so nothing tells its words; copy the training's folder whole");
}
