#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/data/parallel_corpus.hpp"
#include "attn/data/parallel_text.hpp"
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

/// Reads the texts of "attention" (Chittersu) or "coursework" (Edinburgh) from the folder `data`, with at most
/// `training_pairs` training pairs (0: all). Prints their sizes.
EuroparlCorpus load_europarl(const std::string& experiment, const std::filesystem::path& data, Index training_pairs);

}  // namespace papers
