#pragma once
#include "attn/data/parallel_corpus.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace papers {

using namespace attn;

/// A text to translate, as space-separated words, and its reference translation.
struct TestSet {
  std::string name, title;
  ParallelText text;
};

/// The texts of an experiment. Read once; all runs share them read-only.
struct EuroparlCorpus {
  std::string source_language, target_language;
  WordVocabulary source, target;
  ParallelCorpus training, validation;
  std::vector<TestSet> tests;
};

/// The train*.en in a folder of Europarl, plain or compressed. Prefers the plain file if both exist.
inline std::vector<std::filesystem::path> training_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::path path = entry.path();
    if (path.extension() == ".xz") path.replace_extension();
    if (path.filename().string().starts_with("train") && path.extension() == ".en") files.push_back(path);
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  require(!files.empty(), "cannot find train*.en or train*.en.xz in ", folder.string(), ". Check --data.");
  return files;
}

/// Reads the texts of "attention" (Chittersu) or "coursework" (Edinburgh) from the folder `data`, with at most
/// `training_pairs` training pairs (0: all). Prints their sizes.
EuroparlCorpus load_europarl(const std::string& experiment, const std::filesystem::path& data, Index training_pairs);

}  // namespace papers
