#pragma once
#include <filesystem>
#include <iostream>

#include "attn/checkpoint/load_model.hpp"
#include "attn/data/plain_text.hpp"
#include "attn/decode/model_steps.hpp"
#include "attn/language_model.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "attn/train/terminal.hpp"
#include "attn/train/trainer.hpp"

namespace statistical {

using namespace attn;

/// P(y): a Transformer decoder without cross-attention, trained on the target side of the corpus.
class NeuralLanguageModel {
 public:
  using Host = Cpu<float>;
  using Model = LanguageModel<Host, dynamic_shape, PreNorm>;

  NeuralLanguageModel(Host& device, const WordVocabulary& vocabulary)
      : special_tokens_{vocabulary.begin(), vocabulary.end()},
        words_(vocabulary.size()),
        network_(device, {.vocabulary = vocabulary.padded_size(), .dropout = {.residual = 0.3F}, .shape = shape}, 1) {}

  /// Trains until the perplexity of the validation text rises. Writes the best weights to the folder and keeps them.
  void train(const Sentences& text, const Sentences& validation_text, Index epochs, const std::filesystem::path& folder) {
    const ParallelCorpus training = plain_corpus(text), unseen = plain_corpus(validation_text);
    Batches batches(training, special_tokens_, {.size = 32, .order = BatchOrder::pooled, .pool = 100});
    Batches validation(unseen, special_tokens_, {.size = 100});
    Adam adam(network_, {.clip_norm = 1});
    Trainer trainer(network_, adam, ConstantRate{1e-3}, {.epochs = epochs, .report_every = 50, .patience = 1});
    TerminalCallback terminal(std::cout, false, epochs * batches.batches_per_epoch());
    CheckpointCallback checkpoints(folder, trainer);
    trainer.run(batches, validation, {&terminal, &checkpoints});
    load(folder);
  }

  /// Loads the weights that train() wrote to the folder.
  void load(const std::filesystem::path& folder) { load_model(folder / "model.safetensors", network_); }

  double perplexity_of(const Sentences& text) {
    const ParallelCorpus corpus = plain_corpus(text);
    Batches batches(corpus, special_tokens_, {.size = 100});
    return perplexity(network_, batches).value();
  }

  /// log P(word | history) of every word of the vocabulary, for each history.
  std::vector<std::vector<double>> operator()(const std::vector<std::vector<Token>>& histories) const {
    Sentences prompts;
    for (const std::vector<Token>& history : histories) {
      std::vector<Token> prompt{special_tokens_.begin};
      prompt.insert(prompt.end(), history.begin(), history.end());
      prompts.push_back(prompt);
    }
    ModelSteps<Host, Model> steps(network_.device(), *network_, prompts, 1, 1);
    std::vector<double> rows;
    steps.log_probabilities(steps.first_tokens(special_tokens_.begin), rows);
    const Index columns = std::ssize(rows) / std::ssize(histories);
    std::vector<std::vector<double>> answers;
    for (auto row = rows.begin(); row != rows.end(); row += columns) answers.emplace_back(row, row + words_);
    return answers;
  }

 private:
  static constexpr TransformerShape shape{.encoder_layers = 0, .decoder_layers = 2, .width = 128, .heads = 4, .inner = 512};

  SpecialTokens special_tokens_;
  Index words_;
  Network<Model> network_;
};

}  // namespace statistical
