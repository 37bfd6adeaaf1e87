#include "options.hpp"

#include "attn/data/packed_file.hpp"
#include "attn/metrics/tokenize_13a.hpp"
#include "attn/run/command_line.hpp"
#include "attn/text/lower_case.hpp"

using namespace attn;

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(
      "Learns which words translate which from a text and its translation, and aligns them (IBM model 1).\n\n"
      "  align train.en train.de > links                   links of each pair: 0-0 1-2, words from 0\n"
      "  align train.en train.de --pairs test.en test.de   of other pairs, which are learned from as well\n"
      "  align train.en train.de --pairs test.en test.de --gold gold.talp     alignment error rate\n\n"
      "Words stand between white space; --raw makes words of raw text. Files may be plain, .xz or .gz.\n",
      "align");
  app.add_option("source", o.source, "The text")->required();
  app.add_option("target", o.target, "Its translation, line by line")->required();
  app.add_option("--pairs", o.pairs, "Two files to align instead of the text")->expected(1, 2);
  app.add_option("--gold", o.gold,
                 "Alignments that people made of the pairs: 3-4 a sure link, 3p4 a possible one, words counting from 1")
      ->check(CLI::ExistingFile);
  const CLI::Option* links = app.add_option("--links", o.link_order, "With --gold: whose word a link names first")
                                 ->capture_default_str()
                                 ->check(CLI::IsMember({"source-target", "target-source"}));
  app.add_option("--symmetrize", o.symmetrize, "How the alignments of both directions become one")
      ->capture_default_str()
      ->check(CLI::IsMember({"intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"}));
  app.add_flag("--raw", o.raw, "Split raw text into words, punctuation apart (as BLEU's 13a), in small letters");
  app.add_option("--first", o.first, "Learn from the first so many pairs; 0: from all")
      ->capture_default_str()
      ->check(whole_number(0));
  app.add_option("--iterations", o.iterations, "Of expectation-maximisation")
      ->capture_default_str()
      ->check(whole_number(1));
  app.add_option("--prune-below", o.prune_below, "Leave out of the tables what is less probable")
      ->capture_default_str()
      ->check(number(0, 1));
  app.add_option("--threads", o.threads, "Cores to use; 0: all")->capture_default_str()->check(whole_number(0, 1024));
  app.add_option(
      "--tokens", o.tokens,
      "Folder of a model, of a training or of OPUS-MT: learns a table of its tokens instead, and writes it to the file "
      "that --save names, for translate --shortlist");
  app.add_option("--save", o.save,
                 "Folder for the tables of both directions and their vocabularies; a file, with --tokens");
  read_command_line(app, count, words, [&] {
    if (!o.tokens.empty() && (o.save.empty() || !o.pairs.empty() || !o.gold.empty() || o.raw))
      throw CLI::ValidationError("--tokens goes with --save, and without --pairs, --gold and --raw");
    if (links->count() > 0 && o.gold.empty()) throw CLI::ValidationError("--links goes with --gold");
    if (o.pairs.size() == 1) throw CLI::ValidationError("--pairs names two files, a text and its translation");
  });
  return o;
}

attn::ParallelText read_text(const Options& options, const std::filesystem::path& source,
                             const std::filesystem::path& target) {
  attn::PackedFile files[] = {attn::PackedFile(source), attn::PackedFile(target)};
  attn::ParallelText text = attn::read_parallel(files[0].path(), files[1].path());
  for (attn::PackedFile& file : files) file.close();
  if (!options.raw) return text;
  for (auto* side : {&text.source, &text.target})
    for (std::string& line : *side) {
      std::string split;
      for (const std::string& word : attn::tokenize_13a(line)) split += (split.empty() ? "" : " ") + word;
      line = attn::lower_case(split);
    }
  return text;
}
