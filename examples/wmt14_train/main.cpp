// Trains a translation model and scores it: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE
// machine translation task", and, with no options, a small one that needs nothing but two minutes.

#include <exception>
#include <iostream>

#include "attn/core/error.hpp"
#include "models.hpp"
#include "run_folder.hpp"

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  const bool gpu = is_gpu(options);
  make_folder(options.output);
  const Corpus corpus = load_corpus(options);
  if (options.recurrent())
    (gpu ? cuda_recurrent : cpu_recurrent)(options, corpus);
  else
    (gpu ? cuda_transformer : cpu_transformer)(options, corpus);
} catch (const attn::OutOfMemory& error) {
  std::cerr << "wmt14_train: " << error.what()
            << ": the one with --batch, --batch-unit tokens or --truncate, the other with --vocabulary or a Transformer's "
               "--size\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "wmt14_train: " << error.what() << "\n";
  return 1;
}
