#pragma once
#include "attn/align/ibm_model1.hpp"
#include "attn/align/lexical_table_file.hpp"
#include "attn/align/symmetrize.hpp"
#include "attn/align/viterbi.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/text/word_vocabulary_files.hpp"

namespace attn {

/// Aligns white-space-separated words by lexical tables of both directions.
class WordAligner {
 public:
  WordAligner(WordVocabulary source, WordVocabulary target, LexicalTable forward, LexicalTable backward)
      : source_(std::move(source)),
        target_(std::move(target)),
        forward_(std::move(forward)),
        backward_(std::move(backward)) {}

  /// Learns both tables from a text, with a vocabulary of all its words.
  static WordAligner train(const ParallelText& text, const IbmModel1Options& options = {}) {
    WordVocabulary source(WordCounts{text.source}), target(WordCounts{text.target});
    const ParallelCorpus corpus = encode_corpus(text, source, target);
    LexicalTable forward = train_ibm_model1(corpus.source, corpus.target, options).table;
    LexicalTable backward = train_ibm_model1(corpus.target, corpus.source, options).table;
    return {std::move(source), std::move(target), std::move(forward), std::move(backward)};
  }

  /// Links each target word to at most one source word.
  std::vector<WordLink> forward(std::string_view source, std::string_view target) const {
    return viterbi_alignment(forward_, source_.encode(source), target_.encode(target));
  }
  /// Links each source word to at most one target word.
  std::vector<WordLink> backward(std::string_view source, std::string_view target) const {
    return transposed(viterbi_alignment(backward_, target_.encode(target), source_.encode(source)));
  }
  std::vector<WordLink> operator()(std::string_view source, std::string_view target,
                                   Symmetrization how = Symmetrization::grow_diag_final_and) const {
    return symmetrize(forward(source, target), backward(source, target), how);
  }

  /// forward_table: t(target | source); source and target: their vocabularies.
  const LexicalTable& forward_table() const { return forward_; }
  const WordVocabulary& source() const { return source_; }
  const WordVocabulary& target() const { return target_; }

  /// Writes four files to a folder. Creates the folder if needed.
  void save(const std::filesystem::path& folder) const {
    make_folder(folder);
    save_word_vocabulary(source_, folder / "source.vocab");
    save_word_vocabulary(target_, folder / "target.vocab");
    save_lexical_table(forward_, folder / "forward.table");
    save_lexical_table(backward_, folder / "backward.table");
  }

  /// Reads the files of save().
  static WordAligner load(const std::filesystem::path& folder) {
    return {load_word_vocabulary(folder / "source.vocab"), load_word_vocabulary(folder / "target.vocab"),
            load_lexical_table(folder / "forward.table"), load_lexical_table(folder / "backward.table")};
  }

 private:
  WordVocabulary source_, target_;
  LexicalTable forward_, backward_;
};

}  // namespace attn
