#include "options.hpp"

#include "attn/run/command_line.hpp"
#include "search_flags.hpp"

using namespace attn;

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(
      "Translates lines of text with a model that wmt14_train or europarl_train trained, and shows where it looked.\n\n"
      "  translate runs/wmt14 < in.en > out.de                         line by line; empty lines stay empty\n"
      "  translate runs/wmt14 in.en --beam 5 --n-best 3 > out.nbest    hypotheses as: line ||| text ||| score\n"
      "  translate runs/wmt14 in.en --maps maps > out.de               and draws attention maps of every sentence\n"
      "  translate runs/wmt14 in.en --reference in.de --maps maps      the same while it is made to write given "
      "translations\n"
      "  translate runs/wmt14 test.en --reference test.de --align gold.talp --links target-source\n"
      "                                                                alignment error rate of its attention\n\n"
      "The maps' folder gets, for each sentence, a page with all layers and heads (0001.html) and, where the decoder looks "
      "at\n"
      "words of the source, one picture (0001.svg): the mean of the heads of the last layer that does.\n",
      "translate");
  app.add_option("model", o.model, "Folder of the training")->required();
  app.add_option("text", o.text, "File to translate; without it, standard input")->check(CLI::ExistingFile);
  app.add_option("--reference", o.reference,
                 "Given translations of the text, line by line: looks at them instead of translating")
      ->check(CLI::ExistingFile);
  app.add_option("--maps", o.maps, "Folder for attention maps");
  app.add_option("--align", o.align,
                 "Gold alignments of text and reference, to score attention with: a line a pair, 3-4 a sure link, 3p4 a "
                 "possible one, words counting from 1")
      ->check(CLI::ExistingFile);
  app.add_option("--links", o.link_order, "Whose word a gold link names first")
      ->capture_default_str()
      ->check(CLI::IsMember({"source-target", "target-source"}));
  app.add_option(
         "--together", o.together,
         "The most lines that are read before they are translated, in batches of similar length; fewer where no more "
         "have come, and at the beginning where a terminal shows them")
      ->capture_default_str()
      ->check(whole_number(1));
  app.add_option("--limit", o.limit, "Tokens of a translation at most; unless told, what the training's --limit was")
      ->check(whole_number(1, 100'000));
  app.add_option("--shortlist", o.shortlist,
                 "Lexical table of the model's tokens (`align --tokens`): translations are made of what is likely for the "
                 "source's tokens, which is faster")
      ->check(CLI::ExistingFile);
  app.add_option("--shortlist-words", o.shortlist_words, "With --shortlist: likely translations of each source token")
      ->capture_default_str()
      ->check(whole_number(1));
  SearchFlags search(app, o);
  add_device_options(app, o.device);
  read_command_line(app, count, words, [&] {
    search.apply(o);
    if (!o.reference.empty() && o.text.empty()) throw CLI::ValidationError("--reference goes with a file to translate");
    if (!o.reference.empty() && o.maps.empty() && o.align.empty())
      throw CLI::ValidationError("--reference goes with --maps or --align: there is nothing to translate");
    if (!o.align.empty() && o.reference.empty())
      throw CLI::ValidationError("--align goes with --reference: gold links are those of given translations");
  });
  return o;
}
