// Corpus statistics as papers report them: words, vocabulary sizes and sentence lengths.
//
//   corpus_stats train.en train.de                                       words of a tokenised text, between white space
//   corpus_stats train.en train.de --vocab vocab.json --merges merges.txt   lengths in tokens of a byte-level BPE
//   corpus_stats train.en train.de --prepare en-de --seen-at-least 10    raw text, prepared for recurrent models first

#include <exception>
#include <iomanip>
#include <iostream>

#include "attn/core/format_count.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/text/word_vocabulary_files.hpp"
#include "attn/train/terminal.hpp"
#include "common/command_line.hpp"
#include "common/plain_pairs.hpp"
#include "common/text_statistics.hpp"

namespace {

using namespace attn;
using Json = nlohmann::ordered_json;

struct Options {
  std::string source, target, vocab, merges, prepare, write;
  Index seen_at_least = 2;
  PairLimits limits;  // for --prepare
  bool json = false;
};

const char* about =
    R"(Counts the words of a parallel corpus and measures its sentences.

Both files are UTF-8, plain, .xz or .gz, and line i of one is the translation of line i of the
other. Words are separated by white space.
)";

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(about, "corpus_stats");
  const AddOptions add{app, "Options"};
  app.add_option("source", o.source, "Source text")->required();
  app.add_option("target", o.target, "Its translation")->required();
  add("--seen-at-least", o.seen_at_least, "Minimum count of words in the vocabulary", whole_number(1))
      ->capture_default_str();
  auto* vocab = add("--vocab", o.vocab, "Measure in tokens: vocab.json of a byte-level BPE (GPT-2, BART)");
  vocab->needs(add("--merges", o.merges, "merges.txt of the same BPE")->needs(vocab));
  add("--prepare", o.prepare,
      "Prepare raw text: keep pairs of moderate length, split words, expand contractions, remove case and punctuation, "
      "replace numbers by <num>",
      CLI::IsMember({"en-de", "de-en"}));
  auto* most_words =
      add("--most-words", o.limits.most_words, "With --prepare: maximum words per side after preparation", whole_number(1));
  most_words->capture_default_str();
  add("--write-vocabularies", o.write, "Write source.vocab and target.vocab to this folder: lines of word,id");
  add("--json", o.json, "Print JSON instead of tables");
  read_command_line(app, count, words, [&] {
    if (most_words->count() > 0 && o.prepare.empty()) throw CLI::ValidationError("--most-words requires --prepare");
  });
  return o;
}

struct Corpus {
  Index lines = 0;  // pairs in the files; lengths.sentences() counts the kept ones
  TextStatistics source, target;
};

Corpus read_corpus(const Options& options) {
  std::optional<ByteBpe> bpe;
  if (!options.vocab.empty()) bpe = load_byte_bpe(options.vocab, options.merges);
  const auto add = [&](TextStatistics& side, const std::string& line) {
    if (!bpe) return side.add(line);
    side.add(line, *bpe, 2);  // BART's tokenizer adds <s> and </s>
  };

  Corpus corpus;
  const bool german_first = options.prepare == "de-en";
  const Language from = german_first ? Language::german : Language::english;
  const Language to = german_first ? Language::english : Language::german;
  for_each_pair(options.source, options.target, [&](const std::string& source, const std::string& target) {
    ++corpus.lines;
    const auto pair =
        options.prepare.empty() ? PlainPair{source, target} : plain_pair(source, from, target, to, options.limits);
    if (!pair) return;
    add(corpus.source, pair->source);
    add(corpus.target, pair->target);
  });
  require(corpus.lines > 0, options.source, " and ", options.target, " are empty. Give files with one sentence per line.");
  require(corpus.source.lengths.sentences() > 0, options.source, ", ", options.target,
          ": no pair has 7 to 20 words on both sides, similar lengths, and at most ", options.limits.most_words,
          " words after preparation. --prepare keeps such pairs only.");
  return corpus;
}

/// Statistics of one side. The vocabulary counts one special token, <unk>.
Json describe(const TextStatistics& side, const WordVocabulary& vocabulary, Index seen_at_least) {
  return {{"tokens", side.words.tokens()},
          {"types", side.words.types()},
          {"seen_once", side.words.seen_once()},
          {"unknown_tokens", side.words.tokens_seen_less_than(seen_at_least)},
          {"numbers", side.words.count("<num>")},
          {"vocabulary", vocabulary.size() - WordVocabulary::special_tokens + 1},
          {"length",
           {{"average", side.lengths.average()},
            {"average_rounded_up", side.lengths.average_rounded_up()},
            {"shortest", side.lengths.shortest()},
            {"longest", side.lengths.longest()}}}};
}

void print_row(const std::string& name, const std::vector<Json>& cells) {
  std::cout << std::left << std::setw(34) << name << std::right;
  for (const Json& cell : cells)
    std::cout << std::setw(14)
              << (cell.is_string()         ? cell.get<std::string>()
                  : cell.is_number_float() ? format_decimals(cell, 2)
                                           : format_count(cell));
  std::cout << "\n";
}

void print_tables(const Json& report) {
  const Json &source = report["source"], &target = report["target"];
  print_row("words", {"source", "target"});
  for (const auto& [key, name] : {std::pair("tokens", "words of the text"),
                                  {"types", "different words"},
                                  {"seen_once", "words seen once"},
                                  {"unknown_tokens", "words of the text that are <unk>"},
                                  {"numbers", "words of the text that are <num>"},
                                  {"vocabulary", "vocabulary, with <unk>"}})
    print_row(name, {source[key], target[key]});
  print_row("in both vocabularies", {report["shared_words"]});
  std::cout << "A vocabulary holds the words seen at least " << counted(report["seen_at_least"].get<Index>(), "time")
            << ".\n\n";
  print_row("length in " + report["length_unit"].get<std::string>(), {"average", "rounded up", "shortest", "longest"});
  for (const char* side : {"source", "target"})
    print_row(side, std::vector<Json>(report[side]["length"].begin(), report[side]["length"].end()));
}

}  // namespace

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  const Corpus corpus = read_corpus(options);
  const WordVocabulary source(corpus.source.words, {.seen_at_least = options.seen_at_least});
  const WordVocabulary target(corpus.target.words, {.seen_at_least = options.seen_at_least});
  if (!options.write.empty()) {
    make_folder(options.write);
    save_word_vocabulary(source, options.write + "/source.vocab");
    save_word_vocabulary(target, options.write + "/target.vocab");
  }
  const Json report{{"lines", corpus.lines},
                    {"pairs", corpus.source.lengths.sentences()},
                    {"seen_at_least", options.seen_at_least},
                    {"source", describe(corpus.source, source, options.seen_at_least)},
                    {"target", describe(corpus.target, target, options.seen_at_least)},
                    {"shared_words", shared_words(source, target)},
                    {"length_unit", options.vocab.empty() ? "words" : "tokens, with <s> and </s>"}};
  if (options.json) {
    std::cout << report.dump(2) << "\n";
  } else {
    std::cout << counted(report["pairs"].get<Index>(), "pair");
    if (!options.prepare.empty()) std::cout << " of " << format_count(corpus.lines) << " are within the limits";
    std::cout << "\n\n";
    print_tables(report);
  }
  require_written(std::cout, "the figures");
} catch (const std::exception& error) {
  std::cerr << "corpus_stats: " << error.what() << "\n";
  return 1;
}
