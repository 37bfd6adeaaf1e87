#include "attn/run/translate_main.hpp"

#include <exception>
#include <iostream>

#include "attn/align/lexical_table_file.hpp"
#include "attn/align/shortlist.hpp"
#include "common/print_device.hpp"
#include "options.hpp"

int attn::translate_main(int count, char** words) try {
  using namespace translate_tool;
  const Options options = read_options(count, words);
  print_device(std::cerr, options.device);
  std::vector<std::filesystem::path> folders{options.model};
  folders.insert(folders.end(), options.ensemble.begin(), options.ensemble.end());
  FolderTranslator translator = open_ensemble(folders, options.device);
  if (options.limit > 0) translator.options.limit = options.limit;
  if (options.never_unknown) translator.options.never.push_back(translator.config().target.unknown());
  if (options.replace_unknown) std::erase(translator.options.never, translator.config().target.unknown());
  if (!options.shortlist.empty()) {
    const auto& config = translator.config();
    const LexicalTable table = load_lexical_table(options.shortlist, {config.source.hash(), config.target.hash()});
    std::vector<Token> always = table.best(table.empty_word(), 4 * options.shortlist_words);
    translator.options.shortlist = Shortlist(table, std::move(always), options.shortlist_words);
  }
  if (options.reference.empty())
    translate_text(options, translator);
  else
    look_at_pairs(options, translator);
  return 0;
} catch (const OutOfMemory& error) {
  std::cerr << "translate: " << error.what() << " (--batch-lines, --beam or --limit)\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "translate: " << error.what() << "\n";
  return 1;
}
