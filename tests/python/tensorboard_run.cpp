// Trains a tiny model for tests/python/tensorboard_events.py: tensorboard_run FOLDER EPOCHS [resume]. Its score is made up.
#include <iostream>
#include <string_view>

#include "attn/data/parallel_corpus.hpp"
#include "attn/run/cpu_models.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "attn/transformer.hpp"

using namespace attn;

int main(int argc, char** argv) try {
  require(argc == 3 || (argc == 4 && std::string_view(argv[3]) == "resume"),
          "usage: tensorboard_run FOLDER EPOCHS [resume]");
  constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
  ModelRegistry registry;
  registry.add<Transformer<Cpu<float>, shape>>("tiny");
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
  const ParallelText text{{"a b", "c", "d d", "a c d"}, {"b a", "c", "d d", "d c a"}};
  const ParallelCorpus corpus = encode_corpus(text, words, words);
  const auto model = registry.make({.name = "tiny", .source_vocabulary = 8, .target_vocabulary = 8, .dropout = 0},
                                   {.device = "cpu", .threads = 1}, 7);
  double score = 0;
  model->train({.folder = argv[1],
                .training = corpus,
                .validation = corpus,
                .special_tokens = special_tokens_of(words, words),
                .batches = {.size = 2},
                .validation_batches = {.size = 2},
                .adam = {.clip_norm = 1},
                .train = {.epochs = std::stoll(argv[2])},
                .schedule = [](Index, Index) { return [](Index step) { return 1e-3 * static_cast<double>(step); }; },
                .score = [&](AnyModel&) { return score += 12.5; },
                .title = "tiny",
                .resume = argc == 4});
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
