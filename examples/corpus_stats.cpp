// What a corpus is made of: words, vocabularies, sentence lengths, as the papers on attention count them.
//
//   corpus_stats train.en train.de                                       words of a tokenised text, between white space
//   corpus_stats train.en train.de --vocab vocab.json --merges merges.txt   lengths in tokens of a byte-level BPE
//   corpus_stats train.en train.de --prepare en-de --seen-at-least 10    raw text, prepared for recurrent models first

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "attn/data/length_statistics.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/text/word_vocabulary_files.hpp"
#include "attn/train/progress.hpp"
#include "papers/plain_pairs.hpp"

namespace {

using namespace attn;
using namespace papers;

struct Options {
  std::string source, target, vocab, merges, prepare, write;
  Index seen_at_least = 2;
  bool json = false;
};

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(
      "Counts the words of a parallel corpus and measures its sentences.\n\n"
      "Both files are UTF-8, line i of one the translation of line i of the other; words stand between white space. A "
      "compressed\nfile goes through the shell: corpus_stats <(xz -dc train.en.xz) <(xz -dc train.de.xz)\n");
  app.option_defaults()->always_capture_default();
  app.add_option("source", o.source, "The text")->required();
  app.add_option("target", o.target, "Its translation")->required();
  app.add_option("--seen-at-least", o.seen_at_least, "Words seen less often are not in the vocabulary")
      ->check(CLI::PositiveNumber);
  auto* vocab = app.add_option("--vocab", o.vocab, "Measure in tokens: vocab.json of a byte-level BPE (GPT-2, BART)");
  auto* merges = app.add_option("--merges", o.merges, "and its merges.txt");
  vocab->needs(merges), merges->needs(vocab);
  app.add_option("--prepare", o.prepare,
                 "Of raw text, take pairs of moderate length, split words, write contractions out, drop case and "
                 "punctuation, put <num> for numbers")
      ->check(CLI::IsMember({"en-de", "de-en"}));
  app.add_option("--write-vocabularies", o.write, "Folder to write source.vocab and target.vocab to: lines of word,id");
  app.add_flag("--json", o.json, "Print JSON instead of tables");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return o;
}

struct Side {
  WordCounts words;
  LengthStatistics lengths;
};

struct Corpus {
  Index lines = 0;  // pairs in the files; kept ones are lengths.sentences()
  Side source, target;
};

Corpus read_corpus(const Options& options) {
  std::optional<ByteBpe> bpe;
  if (!options.vocab.empty()) bpe = load_byte_bpe(options.vocab, options.merges);
  std::vector<Token> tokens;
  const auto add = [&](Side& side, const std::string& line) {
    const Index before = side.words.tokens();
    side.words.add(line);
    if (bpe) {
      tokens.clear();
      bpe->encode(line, tokens);
      side.lengths.add(static_cast<Index>(tokens.size()) + 2);  // <s> and </s>, which BART's tokenizer adds
    } else {
      side.lengths.add(side.words.tokens() - before);
    }
  };

  Corpus corpus;
  const auto source_language = options.prepare == "de-en" ? Language::german : Language::english;
  const auto target_language = options.prepare == "de-en" ? Language::english : Language::german;
  for_each_pair(options.source, options.target, [&](const std::string& source, const std::string& target) {
    ++corpus.lines;
    if (options.prepare.empty()) {
      add(corpus.source, source);
      add(corpus.target, target);
    } else if (const auto pair = plain_pair(source, source_language, target, target_language)) {
      add(corpus.source, pair->source);
      add(corpus.target, pair->target);
    }
  });
  require(corpus.lines > 0, options.source, " and ", options.target, " are empty; give files with a sentence a line");
  require(corpus.source.lengths.sentences() > 0, "none of the ", corpus.lines, " pairs of ", options.source, " and ",
          options.target, " has 6 to 19 spaces on both sides; is --prepare meant for them?");
  return corpus;
}

/// A side's figures in the order in which they are printed. The vocabulary counts one special token, <unk>.
struct Figure {
  const char *name, *key;
  Index source, target;
};

std::vector<Figure> figures(const Corpus& corpus, Index seen_at_least, Index source_size, Index target_size) {
  const auto unknown = [&](const WordCounts& words) {
    Index tokens = 0;
    for (const auto& [word, count] : words.by_frequency()) tokens += count < seen_at_least ? count : 0;
    return tokens;
  };
  const auto row = [&](const char* name, const char* key, auto&& figure) {
    return Figure{name, key, figure(corpus.source.words), figure(corpus.target.words)};
  };
  return {row("words of the text", "tokens", [](const WordCounts& w) { return w.tokens(); }),
          row("different words", "types", [](const WordCounts& w) { return w.types(); }),
          row("words seen once", "seen_once", [](const WordCounts& w) { return w.seen_once(); }),
          row("words of the text that are <unk>", "unknown_tokens", unknown),
          row("words of the text that are <num>", "numbers", [](const WordCounts& w) { return w.count("<num>"); }),
          {"vocabulary, with <unk>", "vocabulary", source_size + 1, target_size + 1}};
}

std::string fixed(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << value;
  return text.str();
}

void print_row(const std::string& name, const std::vector<std::string>& cells) {
  std::cout << std::left << std::setw(34) << name << std::right;
  for (const std::string& cell : cells) std::cout << std::setw(14) << cell;
  std::cout << "\n";
}

}  // namespace

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  const Corpus corpus = read_corpus(options);
  const WordVocabulary source(corpus.source.words, {.seen_at_least = options.seen_at_least});
  const WordVocabulary target(corpus.target.words, {.seen_at_least = options.seen_at_least});
  if (!options.write.empty()) {
    save_word_vocabulary(source, options.write + "/source.vocab");
    save_word_vocabulary(target, options.write + "/target.vocab");
  }
  const auto rows = figures(corpus, options.seen_at_least, source.size() - WordVocabulary::special_tokens,
                            target.size() - WordVocabulary::special_tokens);
  const std::pair<const char*, const Side&> sides[] = {{"source", corpus.source}, {"target", corpus.target}};
  const char* unit = options.vocab.empty() ? "words" : "tokens, with <s> and </s>";

  if (options.json) {
    nlohmann::ordered_json json{
        {"lines", corpus.lines}, {"pairs", corpus.source.lengths.sentences()}, {"seen_at_least", options.seen_at_least}};
    for (const Figure& figure : rows) {
      json["source"][figure.key] = figure.source;
      json["target"][figure.key] = figure.target;
    }
    json["shared_words"] = shared_words(source, target);
    json["length_unit"] = unit;
    for (const auto& [name, side] : sides)
      json[name]["length"] = {{"average", side.lengths.average()},
                              {"average_rounded_up", side.lengths.average_rounded_up()},
                              {"shortest", side.lengths.shortest()},
                              {"longest", side.lengths.longest()}};
    std::cout << json.dump(2) << "\n";
    return 0;
  }

  std::cout << format_count(corpus.source.lengths.sentences()) << " pairs";
  if (!options.prepare.empty()) std::cout << " of " << format_count(corpus.lines) << " are within the limits";
  std::cout << "\n\n";
  print_row("words", {"source", "target"});
  for (const Figure& figure : rows) print_row(figure.name, {format_count(figure.source), format_count(figure.target)});
  print_row("in both vocabularies", {format_count(shared_words(source, target))});
  std::cout << "A vocabulary holds the words seen at least " << options.seen_at_least << " times.\n\n";
  print_row(std::string("length in ") + unit, {"average", "rounded up", "shortest", "longest"});
  for (const auto& [name, side] : sides)
    print_row(name, {fixed(side.lengths.average()), format_count(side.lengths.average_rounded_up()),
                     format_count(side.lengths.shortest()), format_count(side.lengths.longest())});
} catch (const std::exception& error) {
  std::cerr << "corpus_stats: " << error.what() << "\n";
  return 1;
}
