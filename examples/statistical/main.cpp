// The statistical baseline: word-for-word translation, and the noisy channel argmax P(x|y) P(y) with IBM model 1, a language
// model and a stack decoder. German to English on the coursework's 10,000 pairs.

#include <chrono>
#include <exception>
#include <iostream>

#include "attn/align/ibm_model1.hpp"
#include "attn/core/file.hpp"
#include "attn/core/format_count.hpp"
#include "attn/metrics/word_bleu.hpp"
#include "attn/train/terminal.hpp"
#include "common/standard_output.hpp"
#include "options.hpp"
#include "papers/europarl_corpus.hpp"
#include "statistical/neural_language_model.hpp"
#include "statistical/translate_words.hpp"
#include "table.hpp"

using namespace attn;
using namespace statistical;

namespace {

/// Translates every line with `translate` and scores the translations.
template <class Translate>
System run_system(const std::string& name, const std::string& title, const ParallelText& text, const Translate& translate) {
  System system{name, title, {}, 0, 0};
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& line : text.source) system.translations.push_back(translate(line));
  system.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  system.bleu = multi_bleu(system.translations, text.target, true);
  std::cout << title << ": BLEU " << format_decimals(system.bleu, 2) << std::endl;
  return system;
}

}  // namespace

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  make_folder(options.output);
  const papers::EuroparlCorpus corpus = papers::load_europarl("coursework", options.data, options.training_pairs);
  const std::filesystem::path folder = options.data / "europarl-10k";
  const ParallelText text = options.validation ? read_parallel(folder / "val.de", folder / "val.en") : corpus.tests[0].text;

  const IbmModel1Options ibm{.iterations = options.iterations, .threads = options.threads};
  const LexicalTable forward = train_ibm_model1(corpus.training.source, corpus.training.target, ibm).table;
  const WordChannel channel(train_ibm_model1(corpus.training.target, corpus.training.source, ibm).table,
                            word_frequencies(corpus.training.target, corpus.target.size()), corpus.source.size(),
                            options.word_options);
  Cpu<float> device(options.threads);
  NeuralLanguageModel language_model(device, corpus.target);
  if (options.language_model.empty())
    language_model.train(corpus.training.target, corpus.validation.target, options.epochs,
                         options.output / "language_model");
  else
    language_model.load(options.language_model);
  const double perplexity = language_model.perplexity_of(corpus.validation.target);

  const WordTranslation word_translation(forward, corpus.source, corpus.target);
  std::vector<System> systems;
  systems.push_back(run_system("word-for-word", "word for word", text,
                               [&](const std::string& line) { return translate_word_for_word(word_translation, line); }));
  StackOptions plain = options.weighted;
  plain.language_weight = 1;
  plain.word_reward = plain.distortion_weight = 0;
  for (const auto& [name, title, how] :
       {std::tuple("noisy-channel", "noisy channel", plain), {"weighted", "noisy channel, weighted", options.weighted}}) {
    const StackDecoder decode(channel, std::cref(language_model), corpus.target.unknown(), corpus.target.end(), how);
    systems.push_back(run_system(name, title, text, [&](const std::string& line) {
      return translate_by_stacks(decode, corpus.source, corpus.target, line);
    }));
  }
  const std::string table =
      write_results(options, systems, text,
                    "Perplexity of the language model on the validation text: " + format_decimals(perplexity, 1) + ".");
  std::cout << "\n" << table << "\nwritten to " << options.output.string() << "\n";
  require_written(std::cout, "the scores");
} catch (const std::exception& error) {
  std::cerr << "statistical: " << error.what() << "\n";
  return 1;
}
