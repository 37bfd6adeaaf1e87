// Translates text with a model that another example trained: strings in, strings out. Draws where the model looked, and
// scores that against alignments that people made.

#include <exception>
#include <iostream>

#include "attn/align/lexical_table_file.hpp"
#include "attn/align/shortlist.hpp"
#include "attn/run/say_device.hpp"
#include "jobs.hpp"
#include "papers/models.hpp"

int main(int count, char** words) try {
  papers::add_models(attn::models());
  const Options options = read_options(count, words);
  say_device(std::cerr, options.device);
  std::vector<std::filesystem::path> folders{options.model};
  folders.insert(folders.end(), options.ensemble.begin(), options.ensemble.end());
  attn::FolderTranslator translator = attn::open_ensemble(folders, options.device);
  if (options.limit > 0) translator.options.limit = options.limit;
  if (!options.shortlist.empty()) {
    const auto& card = translator.card();
    const attn::LexicalTable table = attn::load_lexical_table(options.shortlist, {card.source.hash(), card.target.hash()});
    std::vector<attn::Token> always = table.best(table.empty_word(), 4 * options.shortlist_words);
    translator.options.shortlist = attn::Shortlist(table, std::move(always), options.shortlist_words);
  }
  if (options.reference.empty())
    translate_text(options, translator);
  else
    look_at_pairs(options, translator);
} catch (const attn::OutOfMemory& error) {
  std::cerr << "translate: " << error.what()
            << ": the one with a lower --together, --beam or --limit, the other with another model\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "translate: " << error.what() << "\n";
  return 1;
}
