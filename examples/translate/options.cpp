#include "options.hpp"

#include "attn/run/search_flags.hpp"

using namespace attn;

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(
      "Translates lines of text with a model of wmt14_train or europarl_train, and shows where it looked.\n\n"
      "  translate runs/wmt14 < in.en > out.de                        line by line; empty lines stay empty\n"
      "  translate runs/wmt14 in.en --beam 5 --n-best 3 > out.nbest   hypotheses: line ||| text ||| score\n"
      "  translate runs/wmt14 in.en --maps maps > out.de              attention maps of every sentence\n",
      "translate");
  app.add_option("model", o.model, "Folder of the training")->required();
  app.add_option("text", o.text, "File to translate; without it, standard input")->check(CLI::ExistingFile);
  const AddOptions translating{app, "Translating"}, attention{app, "Attention"};
  translating("--ensemble", o.ensemble, "Folders of further models; translates with the mean of all probabilities");
  translating("--together", o.together,
              "The most lines that are read before they are translated, in batches of similar length; fewer where no more "
              "have come, and at the beginning where a terminal shows them",
              whole_number(1))
      ->capture_default_str();
  translating("--limit", o.limit, "Tokens of a translation at most; unless told, what the training's --limit was",
              whole_number(1, 100'000));
  translating("--shortlist", o.shortlist,
              "Lexical table of the model's tokens (`align --tokens`): translations are made of what is likely for the "
              "source's tokens, which is faster",
              CLI::ExistingFile);
  const CLI::Option* shortlist_words =
      translating("--shortlist-words", o.shortlist_words, "With --shortlist: likely translations of each source token",
                  whole_number(1))
          ->capture_default_str();
  attention(
      "--maps", o.maps,
      "Folder for attention maps: of each sentence a page with all layers and heads (0001.html) and, where the "
      "decoder looks at words of the source, a picture (0001.svg), the mean of the heads of the last layer that does");
  attention("--reference", o.reference,
            "Given translations of the text, line by line: looks at them instead of translating, for --maps or --align",
            CLI::ExistingFile);
  attention("--align", o.align,
            "Gold alignments of text and reference, for the alignment error rate of attention: a line a pair, 3-4 a sure "
            "link, 3p4 a possible one, words counting from 1",
            CLI::ExistingFile);
  const CLI::Option* links = attention("--links", o.link_order, "With --align: whose word a gold link names first",
                                       CLI::IsMember({"source-target", "target-source"}))
                                 ->capture_default_str();
  SearchFlags search(app, o.print, o.draw);
  add_device_options(app, o.device);
  read_command_line(app, count, words, [&] {
    o.search = search.changes();
    if (shortlist_words->count() > 0 && o.shortlist.empty())
      throw CLI::ValidationError("--shortlist-words goes with --shortlist");
    if (links->count() > 0 && o.align.empty()) throw CLI::ValidationError("--links goes with --align");
    if (!o.reference.empty() && o.text.empty()) throw CLI::ValidationError("--reference goes with a file to translate");
    if (!o.reference.empty() && o.maps.empty() && o.align.empty())
      throw CLI::ValidationError("--reference goes with --maps or --align: there is nothing to translate");
    if (!o.reference.empty() && search.given() != nullptr)
      throw CLI::ValidationError(search.given()->get_name() + " is for translations: it goes without --reference");
    if (!o.align.empty() && o.reference.empty())
      throw CLI::ValidationError("--align goes with --reference: gold links are those of given translations");
  });
  return o;
}
