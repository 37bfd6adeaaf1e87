// Aligns words of parallel text with IBM model 1, the statistical baseline for attention.

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include "attn/align/lexical_table_file.hpp"
#include "attn/align/pharaoh.hpp"
#include "attn/align/word_aligner.hpp"
#include "attn/core/format_count.hpp"
#include "attn/metrics/alignment_error.hpp"
#include "attn/run/marian_folder.hpp"
#include "attn/text/word_split.hpp"
#include "common/standard_output.hpp"
#include "options.hpp"

namespace {

using namespace attn;

/// Gold alignments of these pairs.
std::vector<GoldAlignment> read_gold(const Options& options, const ParallelText& pairs) {
  auto gold = read_alignments(options.gold,
                              options.link_order == "source-target" ? LinkOrder::source_target : LinkOrder::target_source);
  require(gold.size() == pairs.source.size(), options.gold.string(), " has ", counted(gold.size(), "line"), " for ",
          counted(pairs.source.size(), "pair"), ". Line i must align pair i.");
  const auto words = [](const std::string& line) {
    Index count = 0;
    for_each_spaced_word(line, [&](std::string_view) { ++count; });
    return count;
  };
  for (std::size_t i = 0; i < gold.size(); ++i)
    require_within(gold[i], words(pairs.source[i]), words(pairs.target[i]), static_cast<Index>(i) + 1);
  return gold;
}

/// Rejects a --save path that cannot be written before training starts.
void check_save(const Options& options) {
  if (options.tokens.empty()) make_folder(options.save);
  const auto file = options.tokens.empty() ? options.save / "forward.table" : options.save;
  const auto folder = file.has_parent_path() ? file.parent_path() : ".";
  const bool writable = ::access(folder.c_str(), W_OK | X_OK) == 0;
  const int reason = errno;  // saved here because the evaluation order of arguments is unspecified
  require(writable, "cannot write ", file.string(), ": ", std::strerror(reason));
  std::error_code unknown;
  require(!std::filesystem::exists(file, unknown) || std::filesystem::is_regular_file(file, unknown), "cannot write ",
          file.string(), ": it is not a plain file. Choose another.");
}

void print_errors(const std::vector<GoldAlignment>& gold, const WordAligner& align, const ParallelText& pairs) {
  const std::array names{"source to target", "target to source", "intersection", "union", "grow-diag-final-and"};
  std::array<AlignmentError, names.size()> errors;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const auto there = align.forward(pairs.source[i], pairs.target[i]),
               back = align.backward(pairs.source[i], pairs.target[i]);
    errors[0].add(there, gold[i]);
    errors[1].add(back, gold[i]);
    for (std::size_t k = 2; k < names.size(); ++k)
      errors[k].add(symmetrize(there, back, symmetrization(names[k])), gold[i]);
  }
  std::cout << std::left << std::setw(22) << "alignment"
            << "error rate  precision  recall\n"
            << std::fixed << std::setprecision(3);
  for (std::size_t k = 0; k < names.size(); ++k)
    std::cout << std::setw(22) << names[k] << std::setw(12) << errors[k].rate() << std::setw(11) << errors[k].precision()
              << errors[k].recall() << "\n";
  require_written(std::cout, "the error rates");
}

/// Saves the translation table of a model's tokens.
void save_token_table(const Options& options, const ParallelText& text, const IbmModel1Options& how) {
  const RunConfig config = read_folder_config(options.tokens);
  const ParallelCorpus corpus = encode_corpus(text, config.source, config.target);
  save_lexical_table(train_ibm_model1(corpus.source, corpus.target, how).table, options.save,
                     {config.source.hash(), config.target.hash()});
}

}  // namespace

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  ParallelText text = read_text(options, options.source, options.target), pairs;
  if (options.first > 0 && options.first < std::ssize(text.source))
    text.source.resize(static_cast<std::size_t>(options.first)), text.target.resize(text.source.size());
  require(!text.source.empty(), options.source.string(), " is empty. Give files with one sentence per line.");
  if (!options.pairs.empty()) {
    pairs = read_text(options, options.pairs[0], options.pairs[1]);
    text.source.insert(text.source.end(), pairs.source.begin(), pairs.source.end());
    text.target.insert(text.target.end(), pairs.target.begin(), pairs.target.end());
  } else {
    pairs = text;
  }
  std::vector<GoldAlignment> gold;
  if (!options.gold.empty()) gold = read_gold(options, pairs);
  if (!options.save.empty()) check_save(options);
  Index reports = 0;  // the second direction is trained after the first
  const IbmModel1Options how{.iterations = options.iterations,
                             .prune_below = options.prune_below,
                             .threads = options.threads,
                             .report = [&](Index iteration, double log_likelihood) {
                               std::cerr << (reports++ < options.iterations ? "source to target" : "target to source")
                                         << ", iteration " << iteration << ": log-likelihood before it " << log_likelihood
                                         << "\n";
                             }};
  if (!options.tokens.empty()) {
    save_token_table(options, text, how);
    return 0;
  }
  const WordAligner align = WordAligner::train(text, how);
  if (!options.save.empty()) align.save(options.save);
  if (!options.gold.empty()) {
    print_errors(gold, align, pairs);
    return 0;
  }
  for (std::size_t i = 0; i < pairs.source.size(); ++i)
    std::cout << pharaoh_line(align(pairs.source[i], pairs.target[i], symmetrization(options.symmetrize))) << "\n";
  require_written(std::cout, "the links");
} catch (const std::exception& error) {
  std::cerr << "align: " << error.what() << "\n";
  return 1;
}
