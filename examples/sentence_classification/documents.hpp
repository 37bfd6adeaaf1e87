#pragma once
// The task: do the German sentences of a sequence translate its English ones?

#include "papers/europarl_corpus.hpp"
#include "papers/grammar_corpus.hpp"

using namespace attn;

/// The pairs of train*.en and train*.de in a folder, plain or .xz. Without a folder, 20,000 pairs of the bundled corpus.
inline ParallelText read_text(const std::filesystem::path& folder) {
  if (folder.empty()) return papers::generate_pairs(20'000, 1);
  ParallelText text;
  for (const auto& english : papers::training_files(folder))
    for_each_pair(english, std::filesystem::path(english).replace_extension(".de"),
                  [&](const auto& en, const auto& de) { text.source.push_back(en), text.target.push_back(de); });
  return text;
}

/// Joins consecutive sentences to documents of exactly `half` tokens per language. The last token is `separator`.
inline ParallelCorpus join_sentences(const ParallelCorpus& pairs, Index half, Token separator) {
  ParallelCorpus documents;
  std::vector<Token> english, german;
  for (Index i = 0; i < pairs.size(); ++i) {
    english.insert(english.end(), pairs.source[i].begin(), pairs.source[i].end());
    german.insert(german.end(), pairs.target[i].begin(), pairs.target[i].end());
    const auto kept = static_cast<std::size_t>(half) - 1;
    if (std::min(english.size(), german.size()) < kept) continue;
    for (auto* side : {&english, &german}) side->resize(kept), side->push_back(separator);
    documents.source.push_back(english), documents.target.push_back(german);
    english.clear(), german.clear();
  }
  return documents;
}

/// Sequences and their labels: 1 for translations, 0 if the German documents are from elsewhere in the text.
struct Examples {
  Sentences texts, labels;
};

/// Draws `count` sequences with replacement. A sequence is an English document, a German one, the next English one, and so
/// on: `blocks` consecutive documents of each language. Each label has probability 1/2.
inline Examples draw_examples(const ParallelCorpus& documents, Index blocks, Index count, Random& random) {
  const Index starts = documents.size() - blocks + 1;
  require(starts > 2 * blocks, "the text is too short for sequences of ", blocks, " documents. Lower --lengths.");
  Examples examples;
  std::vector<Token> text;
  for (Index i = 0; i < count; ++i) {
    const Token label = static_cast<Token>(random.below(2));
    const Index english = random.below(starts), elsewhere = (english + blocks + random.below(starts - 2 * blocks)) % starts;
    text.clear();
    for (Index block = 0; block < blocks; ++block) {
      const auto source = documents.source[english + block];
      const auto target = documents.target[(label == 1 ? english : elsewhere) + block];
      text.insert(text.end(), source.begin(), source.end());
      text.insert(text.end(), target.begin(), target.end());
    }
    examples.texts.push_back(text), examples.labels.push_back({&label, 1});
  }
  return examples;
}
