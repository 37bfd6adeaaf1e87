// The statistical baseline: word-for-word translation, and the noisy channel argmax P(x|y) P(y) with IBM model 1, a language
// model and a stack decoder. German to English on the coursework's 10,000 pairs.

#include <chrono>
#include <exception>
#include <iostream>

#include "attn/align/ibm_model1.hpp"
#include "attn/metrics/word_bleu.hpp"
#include "common/command_line.hpp"
#include "papers/europarl_corpus.hpp"
#include "statistical/neural_language_model.hpp"
#include "statistical/table.hpp"
#include "statistical/translate_words.hpp"

using namespace attn;
using namespace statistical;

namespace {

/// The command line of `statistical`.
struct Options {
  std::filesystem::path data = "../shared/data";
  std::filesystem::path output = "runs/statistical";
  std::filesystem::path neural;          // coursework.json of europarl_train; empty: no rows of it
  std::filesystem::path language_model;  // of an earlier run; empty: train one
  Index training_pairs = 0;              // 0: all
  Index iterations = 5;                  // of IBM model 1
  Index epochs = 6;                      // of the language model, at most
  Index word_options = 10;               // of a source word
  // Chosen on the validation text: docs/results/README.md.
  StackOptions weighted{.language_weight = 0.5, .word_reward = 3, .distortion_weight = 0.3};
  bool validation = false;  // translate the validation text instead of the test text
  int threads = 0;
  std::string command;  // as typed
};

const char* about =
    R"(Translates German to English without a neural translation model: word for word, and with the
noisy channel, argmax P(x|y) P(y). IBM model 1 is the channel, an attn language model is P(y), and a
stack decoder searches. Writes a table with BLEU next to that of the neural models.

  statistical --neural runs/europarl/coursework.json

The data folder holds europarl-10k/{train,val,test}.{de,en}, as for europarl_train.
)";

/// Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words) {
  Options o;
  o.command = typed_command("statistical", count, words);
  CLI::App app(about, "statistical");
  const AddOptions text{app, "Text"}, model{app, "Models"}, search{app, "Search"}, results{app, "Results"};
  text("--data", o.data, "Folder of the texts")->capture_default_str();
  text("--training-pairs", o.training_pairs, "Train on the first N pairs; 0: all", whole_number(0));
  text("--validation", o.validation, "Translate the validation text instead of the test text");
  model("--iterations", o.iterations, "Iterations of IBM model 1", whole_number(1))->capture_default_str();
  model("--epochs", o.epochs, "Epochs of the language model; training stops when validation perplexity rises",
        whole_number(1))
      ->capture_default_str();
  model("--language-model", o.language_model, "Folder language_model/ of an earlier run: use it instead of training one",
        CLI::ExistingDirectory);
  model("--options", o.word_options, "Target words to try for each source word", whole_number(1))->capture_default_str();
  search("--stack-size", o.weighted.stack_size, "Hypotheses per stack", whole_number(1))->capture_default_str();
  search("--threshold", o.weighted.threshold, "Drop hypotheses this far below the best of a stack; default: none",
         positive_number());
  search("--distortion-limit", o.weighted.distortion_limit,
         "Furthest distance of the next source word from the first uncovered one; 0: monotone", whole_number(0))
      ->capture_default_str();
  search("--language-weight", o.weighted.language_weight, "Weight of log P(y) in the weighted row", number(0, 100))
      ->capture_default_str();
  search("--word-reward", o.weighted.word_reward, "Score added for each target word in the weighted row", number(-100, 100))
      ->capture_default_str();
  search("--distortion-weight", o.weighted.distortion_weight, "Penalty for each skipped word in the weighted row",
         number(0, 100))
      ->capture_default_str();
  results("--neural", o.neural, "coursework.json of europarl_train: repeat its rows in the table", CLI::ExistingFile);
  results("--output", o.output, "Folder for the table and the translations")->capture_default_str();
  AddOptions{app, "Device"}("--threads", o.threads, "Cores to use; 0: all", whole_number(0));
  read_command_line(app, count, words);
  return o;
}

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
  const std::string table = write_results(options.output, options.command, systems, text, perplexity, options.neural);
  std::cout << "\n" << table << "\nwritten to " << options.output.string() << "\n";
  require_written(std::cout, "the scores");
} catch (const std::exception& error) {
  std::cerr << "statistical: " << error.what() << "\n";
  return 1;
}
