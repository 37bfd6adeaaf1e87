// Translates text with a model that another example trained: strings in, strings out. Draws where the model looked, and
// scores that against alignments that people made.

#include <exception>
#include <iostream>

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
  if (options.reference.empty())
    translate_text(options, translator);
  else
    look_at_pairs(options, translator);
} catch (const std::exception& error) {
  std::cerr << "translate: " << error.what() << "\n";
  return 1;
}
