#pragma once
#include <string>
#include <vector>

#include "attn/data/parallel_corpus.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "options.hpp"

/// A text to translate, as words with spaces between them, and what it should become.
struct TestSet {
  std::string name, title;
  attn::ParallelText text;
};

/// The texts of an experiment. Read once; all runs share it and none changes it.
struct Corpus {
  std::string source_language, target_language;
  attn::WordVocabulary source, target;
  attn::ParallelCorpus training, validation;
  std::vector<TestSet> tests;
};

/// Reads what the options name, and says what it found.
Corpus load_corpus(const Options& options);
