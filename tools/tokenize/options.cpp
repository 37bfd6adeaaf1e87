#include "options.hpp"

#include "common/command_line.hpp"

using namespace attn;

namespace {

const char* about =
    R"(Converts a text and its translation, of any size, to shards of tokens for wmt14_train --shards.

  tokenize corpora/europarl --source a.en.xz b.en.xz --target a.de.xz b.de.xz     line by line
  tokenize corpora/wmt14 --csv train.csv --vocab vocab.json --merges merges.txt   one column each
  tokenize corpora/tatoeba --tsv pairs.tsv.gz --columns 2,4 --vocabulary 16000

Files may be plain, .xz or .gz. The tokenizer, a byte-level BPE, is given or trained on the text,
and stored with the shards. Repeat an interrupted command to resume it. A folder with another
corpus is an error, unless you pass --overwrite. The result does not depend on --threads.
)";

template <class Rule>
void add_rule(CLI::App& app, const char* name, Rule& rule, const char* what,
              std::vector<std::pair<std::string, Rule>> words) {
  std::vector<std::string> names;
  for (const auto& [word, value] : words) names.push_back(word);
  const auto set = [&rule, words](const std::string& given) {
    for (const auto& [word, value] : words)
      if (word == given) rule = value;
  };
  app.add_option_function<std::string>(name, set, what)
      ->group("Rules")
      ->check(one_of(names))
      ->default_str(std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.second == rule; })->first);
}

}  // namespace

Options read_options(int count, char** words) {
  Options o;
  std::vector<std::filesystem::path> source, target, tsv, csv;
  std::vector<std::string> columns;
  CLI::App app(about, "tokenize");
  app.add_option("folder", o.folder, "Output folder")->required();
  app.add_flag("--overwrite", o.overwrite, "Replace another corpus in the folder");
  const AddOptions add{app, "Text"};
  add("--source", source, "Source text: one or more files, one sentence per line", CLI::ExistingFile);
  add("--target", target, "Its translation, one file per source file", CLI::ExistingFile);
  add("--tsv", tsv, "Files of tab-separated values", CLI::ExistingFile);
  add("--csv", csv, "Files of comma-separated values (RFC 4180)", CLI::ExistingFile);
  add("--columns", columns, "The two columns: names of the first row, or numbers from 1. Default: 1,2 (TSV); en,de (CSV)")
      ->delimiter(',');
  const AddOptions tokenizer{app, "Tokenizer"};
  tokenizer("--vocab", o.vocab, "vocab.json of a byte-level BPE (GPT-2, BART). Default: train one", CLI::ExistingFile);
  tokenizer("--merges", o.merges, "merges.txt of the same BPE", CLI::ExistingFile);
  tokenizer("--vocabulary", o.vocabulary, "Vocabulary size of the tokenizer to train", whole_number(260))
      ->capture_default_str();
  tokenizer("--separate-vocabularies,--separate", o.separate, "Train one per language, of --vocabulary tokens");
  add_rule(app, "--too-long", o.shards.too_long, "Cut sentences of more than --longest tokens, or drop their pairs",
           {{"cut", TooLong::cut}, {"drop", TooLong::drop}});
  add_rule(app, "--invalid", o.text.rules.invalid, "Pairs that are not UTF-8: drop, repair with U+FFFD, or refuse the file",
           {{"drop", InvalidUtf8::drop}, {"repair", InvalidUtf8::repair}, {"refuse", InvalidUtf8::refuse}});
  add_rule(app, "--blank", o.text.rules.blank, "Pairs with a blank side",
           {{"drop", BlankSide::drop}, {"keep", BlankSide::keep}});
  add_rule(app, "--duplicates", o.text.rules.duplicates, "Repeated pairs (drop needs 8 bytes of memory or more per pair)",
           {{"keep", Duplicates::keep}, {"drop", Duplicates::drop}});
  add_rule(app, "--unequal", o.text.unequal,
           "Files with different numbers of lines: refuse them, or drop the remaining lines",
           {{"refuse", UnequalLines::refuse}, {"drop", UnequalLines::drop}});
  const AddOptions shards{app, "Shards"};
  shards("--longest", o.shards.longest, "Maximum tokens per sentence", whole_number(1, 1 << 20))->capture_default_str();
  shards("--shard-pairs", o.shards.pairs, "Input pairs per shard", whole_number(1, 1 << 24))->capture_default_str();
  shards("--threads", o.shards.threads, "Threads. Default: one per core", whole_number(1, 1024));
  read_command_line(app, count, words, [&] {
    if (source.size() != target.size()) throw CLI::ValidationError("--source and --target need the same number of files");
    if (source.empty() && tsv.empty() && csv.empty())
      throw CLI::ValidationError("no text. Give --source and --target, --tsv or --csv");
    if (!columns.empty() && (columns.size() != 2 || columns[0] == columns[1]))
      throw CLI::ValidationError("--columns requires two columns, such as 2,4 or en,de");
    if (o.vocab.empty() != o.merges.empty()) throw CLI::ValidationError("--vocab and --merges require each other");
    if (!o.vocab.empty() && o.separate) throw CLI::ValidationError("--separate-vocabularies conflicts with --vocab");
  });
  for (std::size_t i = 0; i < source.size(); ++i) o.text.files.push_back({PairFormat::lines, source[i], target[i]});
  const auto add_columns = [&](PairFormat format, const auto& files, const char* first, const char* second) {
    for (const auto& file : files)
      o.text.files.push_back(
          {format, file, {}, columns.empty() ? first : columns[0], columns.empty() ? second : columns[1]});
  };
  add_columns(PairFormat::tsv, tsv, "1", "2");
  add_columns(PairFormat::csv, csv, "en", "de");
  return o;
}
