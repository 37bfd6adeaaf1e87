// Sentence classification with encoder-only models: a Transformer, Linformers and a bag of words on sequences of several
// lengths. The task is to tell whether the German sentences of a sequence translate its English ones.
//
//   sentence_classification                   a tiny run on the bundled corpus
//   sentence_classification --data europarl   real text

#include <CLI/CLI.hpp>
#include <fstream>
#include <iomanip>

#include "attn/pictures/chart.hpp"
#include "attn/text/bpe_training.hpp"
#include "train.hpp"

/// A quantity of each model against the sequence length, as SVG.
void draw(const std::vector<Result>& results, const std::string& title, double Result::*value, const std::string& file) {
  Chart figure{.title = title, .x_label = "tokens per sequence"};
  std::vector<Axis::Tick> lengths;
  for (const Result& row : results) {
    auto line = std::ranges::find(figure.lines, row.model, &ChartLine::name);
    if (line == figure.lines.end()) line = figure.lines.insert(line, chart::numbered(row.model, figure.lines.size()));
    line->points.push_back({static_cast<double>(row.length), row.*value});
    if (lengths.empty() || lengths.back().at < row.length)
      lengths.push_back({static_cast<double>(row.length), std::to_string(row.length)});
  }
  if (lengths.size() < 2) return;
  const ValueRange values = chart::ranges(figure.lines).y;
  figure.x = Axis::between(lengths, true);
  figure.y = value == &Result::accuracy ? axes::linear(values, 6) : axes::logarithmic(values, 5, axes::label);
  std::ofstream(file) << figure.draw();
}

int main(int count, char** words) try {
  std::string data, output = "classification";
  std::vector<int> ranks{8};
  Index vocabulary = 1'000;
  TransformerShape shape{.encoder_layers = 2, .width = 64, .heads = 2};
  TrainOptions options;
  CLI::App app("Classifies sequences with a Transformer, Linformers and a bag of words.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", data, "folder with train*.en and train*.de, plain or .xz; without it, the bundled corpus");
  app.add_option("--output", output, "prefix of the CSV file and the figures");
  app.add_option("--lengths", options.lengths, "tokens per sequence, growing; all are multiples of the first")
      ->delimiter(',')
      ->check(CLI::Range(4, 1 << 20));
  app.add_option("--linformer-k", ranks, "projected length k, one Linformer for each")->delimiter(',');
  app.add_option("--vocabulary", vocabulary, "size of the joint BPE vocabulary");
  app.add_option("--layers", shape.encoder_layers, "encoder layers");
  app.add_option("--width", shape.width, "width of the embeddings and states");
  app.add_option("--heads", shape.heads, "attention heads");
  app.add_option("--steps", options.steps, "training steps at each length")->check(CLI::Range(30, 1'000'000));
  app.add_option("--batch-tokens", options.batch_tokens, "tokens per batch");
  app.add_option("--rate", options.rate, "peak learning rate");
  app.add_option("--test-examples", options.test_examples, "number of test sequences");
  app.add_option("--seed", options.seed, "seed of the weights and of the examples");
  CLI11_PARSE(app, count, words);

  const ParallelText text = read_text(data);
  BpeTrainer trainer;
  add_lines(trainer, text.source), add_lines(trainer, text.target);
  const ByteBpe bpe = trainer.train(vocabulary);
  const auto [training, test] = split_validation(encode_corpus(text, bpe, bpe), 0.05);  // the last 5 % are the test text
  std::cerr << training.size() << " training pairs, " << test.size() << " test pairs\n";

  const ParallelCorpus training_documents = join_sentences(training, options.lengths.front() / 2, bpe.end());
  const ParallelCorpus test_documents = join_sentences(test, options.lengths.front() / 2, bpe.end());

  std::vector<Result> results;
  std::ofstream csv(output + ".csv");
  csv << "tokens,model,accuracy,milliseconds_per_step,mebibytes" << std::endl;
  std::cout << "| tokens | model | accuracy | ms per step | MiB |\n| ---: | --- | ---: | ---: | ---: |" << std::endl;
  const auto report = [&](const Result& row) {
    const auto& [name, length, accuracy, milliseconds, mebibytes] = results.emplace_back(row);
    csv << length << ',' << name << ',' << accuracy << ',' << milliseconds << ',' << mebibytes << std::endl;
    std::cout << std::setprecision(4) << "| " << length << " | " << name << " | " << accuracy << " | " << milliseconds
              << " | " << mebibytes << " |" << std::endl;
  };
  TextEncoderOptions model{.vocabulary = bpe.padded_size(), .dropout = {.residual = 0}, .shape = shape};
  model.shape.inner = 4 * shape.width, model.shape.linformer_n = options.lengths.back();
  const auto run = [&]<class Model>(const std::string& name, std::type_identity<Model>) {
    train_and_test<Model>(name, options, model, training_documents, test_documents, report);
  };
  run("bag of words", std::type_identity<BagOfWords>());
  run("Transformer", std::type_identity<EncoderClassifier<Full<>>>());
  for (const int k : ranks) {
    model.shape.linformer_k = k;
    run("Linformer k=" + std::to_string(k), std::type_identity<EncoderClassifier<Linformer<>>>());
  }
  require(csv.good(), "cannot write ", output, ".csv. Check --output.");
  draw(results, "Accuracy", &Result::accuracy, output + "-accuracy.svg");
  draw(results, "Training time, ms per step", &Result::milliseconds_per_step, output + "-time.svg");
  draw(results, "Memory of activations, MiB", &Result::mebibytes, output + "-memory.svg");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
