#include "options.hpp"

#include "common/search_flags.hpp"

namespace attn::translate_tool {

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(
      "Translates text line by line with a trained model, and shows its attention.\n\n"
      "  translate runs/wmt14 < in.en > out.de                        line by line; empty lines stay empty\n"
      "  translate runs/wmt14 in.en --beam 5 --n-best 3 > out.nbest   hypotheses: line ||| text ||| score\n"
      "  translate runs/wmt14 in.en --maps maps > out.de              attention maps of every sentence\n",
      "translate");
  app.add_option("model", o.model, "Run folder of the model, or a folder of OPUS-MT")->required();
  app.add_option("text", o.text, "File to translate. Default: standard input")->check(CLI::ExistingFile);
  const AddOptions translating{app, "Translating"}, attention{app, "Attention"};
  translating("--ensemble", o.ensemble, "Folders of more models; average the probabilities of all");
  translating("--batch-lines", o.batch_lines,
              "Read up to N lines, then translate them in batches of similar length. Default: 16 batches, which is 1,024 "
              "lines on the CPU",
              whole_number(1));
  translating("--limit", o.limit, "Maximum tokens per translation. Default: the --limit of the training",
              whole_number(1, 100'000));
  translating(
      "--shortlist", o.shortlist,
      "Lexical table of the model's tokens (`align --tokens`): restrict each translation to likely tokens, which is faster",
      CLI::ExistingFile);
  const CLI::Option* shortlist_words = translating("--shortlist-words", o.shortlist_words,
                                                   "With --shortlist: target tokens per source token", whole_number(1))
                                           ->capture_default_str();
  translating("--never-unknown", o.never_unknown, "Never write <unk>. Default: the setting of the run");
  const CLI::Option* replace_unknown = translating("--replace-unknown", o.unknown_tables,
                                                   "Replace each <unk> by the source word with the most attention or, with "
                                                   "the FOLDER of `align SOURCE TARGET --save FOLDER`, by its translation",
                                                   CLI::ExistingDirectory)
                                           ->expected(0, 1);
  attention("--maps", o.maps,
            "Draw attention maps to this folder: per sentence a page of all layers and heads (0001.html) and a picture of "
            "the last cross-attention, mean of its heads (0001.svg)");
  attention("--reference", o.reference,
            "File of translations, line by line, to use with --maps or --align instead of translating", CLI::ExistingFile);
  attention("--align", o.align,
            "File of gold alignments of text and reference: print the alignment error rate of attention. One line per "
            "pair; 3-4 is a sure link, 3p4 a possible one; words count from 1",
            CLI::ExistingFile);
  const CLI::Option* links = attention("--links", o.link_order, "With --align: order of the words in a gold link",
                                       CLI::IsMember({"source-target", "target-source"}))
                                 ->capture_default_str();
  SearchFlags search(app, o.print, o.draw);
  add_device_options(app, o.device);
  read_command_line(app, count, words, [&] {
    o.search = search.changes();
    if (shortlist_words->count() > 0 && o.shortlist.empty())
      throw CLI::ValidationError("--shortlist-words requires --shortlist");
    o.replace_unknown = replace_unknown->count() > 0;
    if (o.replace_unknown && o.never_unknown)
      throw CLI::ValidationError("--never-unknown conflicts with --replace-unknown");
    if (o.replace_unknown && !o.reference.empty())
      throw CLI::ValidationError("--replace-unknown conflicts with --reference");
    if (links->count() > 0 && o.align.empty()) throw CLI::ValidationError("--links requires --align");
    if (!o.reference.empty() && o.text.empty()) throw CLI::ValidationError("--reference requires a text file");
    if (!o.reference.empty() && o.maps.empty() && o.align.empty())
      throw CLI::ValidationError("--reference requires --maps or --align");
    if (!o.reference.empty() && search.given() != nullptr)
      throw CLI::ValidationError(search.given()->get_name() + " conflicts with --reference");
    if (!o.align.empty() && o.reference.empty()) throw CLI::ValidationError("--align requires --reference");
  });
  return o;
}

}  // namespace attn::translate_tool
