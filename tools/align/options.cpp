#include "options.hpp"

#include "attn/data/line_reader.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/text/utf8.hpp"
#include "common/command_line.hpp"

using namespace attn;

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(
      "Learns a lexical table from a text and its translation, and aligns their words (IBM model 1).\n\n"
      "  align train.en train.de > links                   links per pair: 0-0 1-2, words count from 0\n"
      "  align train.en train.de --pairs test.en test.de   align other pairs; trains on them too\n"
      "  align train.en train.de --pairs test.en test.de --gold gold.talp     alignment error rate\n\n"
      "Words are separated by white space; --raw splits raw text. Files may be plain, .xz or .gz.\n",
      "align");
  app.add_option("source", o.source, "Source text")->required();
  app.add_option("target", o.target, "Its translation, line by line")->required();
  app.add_option("--pairs", o.pairs, "Two files to align instead of the text")->expected(1, 2);
  app.add_option("--gold", o.gold, "File of gold alignments: 3-4 is a sure link, 3p4 a possible one; words count from 1")
      ->check(CLI::ExistingFile);
  const CLI::Option* links = app.add_option("--links", o.link_order, "With --gold: order of the words in a link")
                                 ->capture_default_str()
                                 ->check(CLI::IsMember({"source-target", "target-source"}));
  app.add_option("--symmetrize", o.symmetrize, "How to combine the alignments of both directions")
      ->capture_default_str()
      ->check(CLI::IsMember({"intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"}));
  app.add_flag("--raw", o.raw, "Split raw text into words and punctuation (BLEU's 13a) and lowercase it");
  app.add_option("--first", o.first, "Train on the first N pairs; 0: all")->capture_default_str()->check(whole_number(0));
  app.add_option("--iterations", o.iterations, "Iterations of expectation maximisation")
      ->capture_default_str()
      ->check(whole_number(1));
  app.add_option("--prune-below", o.prune_below, "Drop translations below this probability")
      ->capture_default_str()
      ->check(number(0, 1));
  app.add_option("--threads", o.threads, "Cores to use; 0: all")->capture_default_str()->check(whole_number(0, 1024));
  app.add_option("--tokens", o.tokens,
                 "Run folder or folder of OPUS-MT: train on the tokens of its model, and write the table to the file "
                 "--save, for translate --shortlist");
  app.add_option("--save", o.save,
                 "Output folder for the tables of both directions and their vocabularies; with --tokens, the output file");
  read_command_line(app, count, words, [&] {
    if (!o.tokens.empty() && (o.save.empty() || !o.pairs.empty() || !o.gold.empty() || o.raw))
      throw CLI::ValidationError("--tokens requires --save, and conflicts with --pairs, --gold and --raw");
    if (links->count() > 0 && o.gold.empty()) throw CLI::ValidationError("--links requires --gold");
    if (o.pairs.size() == 1) throw CLI::ValidationError("--pairs requires two files, a text and its translation");
  });
  return o;
}

attn::ParallelText read_text(const Options& options, const std::filesystem::path& source,
                             const std::filesystem::path& target) {
  attn::ParallelText text = attn::read_parallel(source, target);
  if (!options.raw) return text;
  for (auto* side : {&text.source, &text.target})
    for (std::string& line : *side) {
      std::string split;
      for (const std::string& word : attn::tokenize_13a(line)) split += (split.empty() ? "" : " ") + word;
      line = attn::lower_case(split);
    }
  return text;
}
