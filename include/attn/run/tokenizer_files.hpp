#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attn/text/any_tokenizer.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/text/word_vocabulary_files.hpp"

namespace attn {

/// How tokenizers of one type lie in a run's folder: in one file at least.
struct TokenizerKind {
  std::string name;  // in model.json
  std::function<bool(const AnyTokenizer&)> holds;
  std::function<std::vector<std::string>(const AnyTokenizer&, const std::filesystem::path& stem)> save;  // files' names
  std::function<AnyTokenizer(const std::filesystem::path& folder, const std::vector<std::string>& files)> load;
};

/// The kinds that a program knows: byte-level BPE, words, and what it adds itself, before it opens or makes folders.
inline std::vector<TokenizerKind>& tokenizer_kinds() {
  using Path = std::filesystem::path;
  static std::vector<TokenizerKind> kinds{
      {"byte-bpe", [](const AnyTokenizer& t) { return t.get<ByteBpe>() != nullptr; },
       [](const AnyTokenizer& t, const Path& stem) {
         const std::string name = stem.filename().string();
         save_byte_bpe(*t.get<ByteBpe>(), stem.string() + ".vocab.json", stem.string() + ".merges.txt");
         return std::vector{name + ".vocab.json", name + ".merges.txt"};
       },
       [](const Path& folder, const std::vector<std::string>& files) {
         return AnyTokenizer(load_byte_bpe(folder / files.at(0), folder / files.at(1)));
       }},
      {"words", [](const AnyTokenizer& t) { return t.get<WordVocabulary>() != nullptr; },
       [](const AnyTokenizer& t, const Path& stem) {
         save_word_vocabulary(*t.get<WordVocabulary>(), stem.string() + ".vocab");
         return std::vector{stem.filename().string() + ".vocab"};
       },
       [](const Path& folder, const std::vector<std::string>& files) {
         return AnyTokenizer(load_word_vocabulary(folder / files.at(0)));
       }}};
  return kinds;
}

/// Whether a name is that of a file in the folder itself.
inline bool is_name_in_folder(const std::string& file) {
  return !file.empty() && file.find('/') == file.npos && file != "." && file != "..";
}

/// Writes a tokenizer's files, `stem`.*, into a folder; what model.json says of them. Refuses files that load_tokenizer would.
inline nlohmann::json save_tokenizer(const AnyTokenizer& tokenizer, const std::filesystem::path& folder,
                                     const std::string& stem) {
  for (const TokenizerKind& kind : tokenizer_kinds()) {
    if (!kind.holds(tokenizer)) continue;
    const std::vector<std::string> files = kind.save(tokenizer, folder / stem);
    require(!files.empty(), "the tokenizer's kind '", kind.name, "' names no files: nothing could open ", folder.string(),
            " again; its `save` writes one at least, and gives its name");
    for (const std::string& file : files)
      require(is_name_in_folder(file) && std::filesystem::is_regular_file(folder / file), "the tokenizer's kind '",
              kind.name, "' names the file '", file, "', which is not in ", folder.string(),
              "; its `save` gives the names, without folders, of files that it has written beside `stem`");
    return {{"kind", kind.name},
            {"files", files},
            {"vocabulary", tokenizer.size()},
            {"hash", std::to_string(tokenizer.hash())}};
  }
  fail("a tokenizer of a type that is not in tokenizer_kinds() cannot be saved: add its kind there first");
}

/// Reads it back. Refuses files that are not the ones that were written.
inline AnyTokenizer load_tokenizer(const nlohmann::json& about, const std::filesystem::path& folder) {
  const auto name = about.at("kind").get<std::string>();
  for (const TokenizerKind& kind : tokenizer_kinds()) {
    if (kind.name != name) continue;
    const auto files = about.at("files").get<std::vector<std::string>>();
    require(!files.empty(), folder.string(), ": model.json names no files of its tokenizer");
    for (const std::string& file : files)
      require(is_name_in_folder(file), folder.string(), ": model.json names the tokenizer's file ", file,
              ", which is not in the folder");
    AnyTokenizer tokenizer = [&] {
      try {
        return kind.load(folder, files);
      } catch (const std::out_of_range&) {
        fail(folder.string(), ": model.json names ", files.size(), " of its tokenizer's files, too few for the kind ",
             name);
      }
    }();
    require(std::to_string(tokenizer.hash()) == about.at("hash").get<std::string>(), (folder / files[0]).string(),
            " is not the tokenizer that the model in ", folder.string(),
            " was trained with: its tokens have other numbers; copy the folder whole");
    return tokenizer;
  }
  fail(folder.string(), ": its tokenizer is of the kind '", name,
       "', which this program does not know; a newer attn or the program that trained it may");
}

}  // namespace attn
