// Translates text with a model that another example trained: strings in, strings out. Draws where the model looked, and
// scores that against alignments that people made.

#include <exception>
#include <iostream>

#include "jobs.hpp"

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  const ModelFolder folder = open_model_folder(options.model);
  const auto engine = make_engine(folder, options);
  if (options.reference.empty())
    translate_text(options, folder, *engine);
  else
    look_at_pairs(options, folder, *engine);
} catch (const std::exception& error) {
  std::cerr << "translate: " << error.what() << "\n";
  return 1;
}
