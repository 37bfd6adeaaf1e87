// A program on the compiled library: it includes no backend, and makes, saves, opens and uses a model by its name.

#include <attn/run/open_translator.hpp>
#include <attn/run/run_folder.hpp>
#include <iostream>

using namespace attn;

int main() {
  const std::filesystem::path folder = "consumer_run";
  make_folder(folder);
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
  RunConfig config{{.name = "transformer-small-pre", .source_vocabulary = 8, .target_vocabulary = 8}, words, words};
  config.limit = 5;
  const ParallelCorpus corpus = encode_corpus({{"a b", "c d"}, {"b a", "d c"}}, words, words);
  const auto model = models().make(config.model, {.device = "cpu"}, 1);
  write_run_config(folder, config);
  model->train({.folder = folder,
                .training = corpus,
                .validation = corpus,
                .special_tokens = special_tokens_of(words, words),
                .train = {.epochs = 40},
                .schedule = [](Index, Index) { return [](Index) { return 1e-3; }; }});
  const std::vector<std::string> lines = open_translator(folder)({"a b", "", "c d"});
  for (const std::string& line : lines) std::cout << "'" << line << "'\n";
  return lines == std::vector<std::string>{"b a", "", "d c"} ? 0 : 1;
}
