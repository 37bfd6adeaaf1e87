#pragma once
#include "attn/core/format_count.hpp"
#include "attn/text/any_tokenizer.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/text/plain_words.hpp"
#include "attn/text/word_vocabulary_files.hpp"

namespace attn {

/// How to save and load one tokenizer type in a folder; it needs at least one file.
struct TokenizerKind {
  std::string name;  // in model.json
  std::function<bool(const AnyTokenizer&)> holds;
  std::function<std::vector<std::string>(const AnyTokenizer&, const std::filesystem::path& stem)> save;  // file names
  std::function<AnyTokenizer(const std::filesystem::path& folder, const std::vector<std::string>& files)> load;
};

/// A word vocabulary in one file, for Words(vocabulary, language...).
template <class Words>
TokenizerKind word_vocabulary_kind(const char* name, auto... language) {
  return {name,
          [=](const AnyTokenizer& t) {
            const auto* words = t.get<Words>();
            return words != nullptr && (... && (words->language() == language));
          },
          [](const AnyTokenizer& t, const std::filesystem::path& stem) {
            save_word_vocabulary(*t.get<Words>(), stem.string() + ".vocab");
            return std::vector{stem.filename().string() + ".vocab"};
          },
          [=](const std::filesystem::path& folder, const std::vector<std::string>& files) {
            return AnyTokenizer(Words(load_word_vocabulary(folder / files.at(0)), language...));
          }};
}

/// The known tokenizer types: byte-level BPE, word vocabularies, and those that a program adds before it opens a folder.
inline std::vector<TokenizerKind>& tokenizer_kinds() {
  using Path = std::filesystem::path;
  static std::vector<TokenizerKind> kinds{{"byte-bpe", [](const AnyTokenizer& t) { return t.get<ByteBpe>() != nullptr; },
                                           [](const AnyTokenizer& t, const Path& stem) {
                                             const std::string name = stem.filename().string();
                                             save_byte_bpe(*t.get<ByteBpe>(), stem.string() + ".vocab.json",
                                                           stem.string() + ".merges.txt");
                                             return std::vector{name + ".vocab.json", name + ".merges.txt"};
                                           },
                                           [](const Path& folder, const std::vector<std::string>& files) {
                                             return AnyTokenizer(load_byte_bpe(folder / files.at(0), folder / files.at(1)));
                                           }},
                                          word_vocabulary_kind<WordVocabulary>("words"),
                                          word_vocabulary_kind<PlainTokenizer>("plain-en", Language::english),
                                          word_vocabulary_kind<PlainTokenizer>("plain-de", Language::german)};
  return kinds;
}

/// Whether a name is a plain file name, without a folder.
inline bool is_name_in_folder(const std::string& file) {
  return !file.empty() && file.find('/') == file.npos && file != "." && file != "..";
}

/// Writes a tokenizer's files, `stem`.*, and returns its entry for model.json. Rejects files load_tokenizer would reject.
inline nlohmann::json save_tokenizer(const AnyTokenizer& tokenizer, const std::filesystem::path& folder,
                                     const std::string& stem) {
  for (const TokenizerKind& kind : tokenizer_kinds()) {
    if (!kind.holds(tokenizer)) continue;
    const std::vector<std::string> files = kind.save(tokenizer, folder / stem);
    require(!files.empty(), "tokenizer kind '", kind.name,
            "': `save` returned no file names. It must write at least one file to ", folder.string(),
            " and return its name.");
    for (const std::string& file : files)
      require(is_name_in_folder(file) && is_file(folder / file), "tokenizer kind '", kind.name, "': `save` returned '",
              file, "', which is not a file in ", folder.string(),
              ". It must return the names, without folders, of the files that it wrote next to `stem`.");
    return {{"kind", kind.name},
            {"files", files},
            {"vocabulary", tokenizer.size()},
            {"hash", std::to_string(tokenizer.hash())}};
  }
  fail("cannot save a tokenizer whose type is not in tokenizer_kinds(). Add its kind there first.");
}

/// Loads a tokenizer; fails if the files differ from those saved.
inline AnyTokenizer load_tokenizer(const nlohmann::json& about, const std::filesystem::path& folder) {
  const auto name = about.at("kind").get<std::string>();
  for (const TokenizerKind& kind : tokenizer_kinds()) {
    if (kind.name != name) continue;
    const auto files = about.at("files").get<std::vector<std::string>>();
    require(!files.empty(), folder.string(), ": model.json names no tokenizer files");
    for (const std::string& file : files)
      require(is_name_in_folder(file), folder.string(), ": model.json names the tokenizer's file ", file,
              ", which is not in the folder");
    AnyTokenizer tokenizer = [&] {
      try {
        return kind.load(folder, files);
      } catch (const std::out_of_range&) {
        fail(folder.string(), ": model.json names ", counted(files.size(), "tokenizer file"), ", too few for the kind ",
             name);
      }
    }();
    require(std::to_string(tokenizer.hash()) == about.at("hash").get<std::string>(), (folder / files[0]).string(),
            " is not the tokenizer of the model in ", folder.string(), ": its token ids differ. Copy the complete folder.");
    return tokenizer;
  }
  fail(folder.string(), ": its tokenizer is of the kind '", name,
       "', which this program does not know. Try a newer attn, or the program that trained it.");
}

}  // namespace attn
