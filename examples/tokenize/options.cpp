#include "options.hpp"

#include "attn/run/command_line.hpp"

using namespace attn;

namespace {

const char* about =
    R"(Makes a text and its translation into shards of tokens, which wmt14_train --shards trains on,
whatever their size.

  tokenize corpora/europarl --source a.en.xz b.en.xz --target a.de.xz b.de.xz     line by line
  tokenize corpora/wmt14 --csv train.csv --vocab vocab.json --merges merges.txt   a column each
  tokenize corpora/tatoeba --tsv pairs.tsv.gz --columns 2,4 --vocabulary 16000

Files may be plain, .xz or .gz. The tokenizer, a byte-level BPE, is given or learnt from the text,
and lies with the shards. What was made is not made again: a command that was stopped is repeated
and goes on. A folder with another corpus is left alone, unless --overwrite is given. The result
does not depend on --threads.
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
  app.add_option("folder", o.folder, "Folder for the shards")->required();
  app.add_flag("--overwrite", o.overwrite, "Replace the corpus in the folder, if there is another");
  const AddOptions add{app, "Text"};
  add("--source", source, "The text, one file or several, a sentence a line", CLI::ExistingFile);
  add("--target", target, "Its translation, as many files", CLI::ExistingFile);
  add("--tsv", tsv, "Files with tabs between columns", CLI::ExistingFile);
  add("--csv", csv, "Files of comma-separated values (RFC 4180)", CLI::ExistingFile);
  add("--columns", columns, "The two columns: names in the first row, or numbers from 1. Else 1,2 of a TSV, en,de of a CSV")
      ->delimiter(',');
  const AddOptions tokenizer{app, "Tokenizer"};
  tokenizer("--vocab", o.vocab, "vocab.json of a byte-level BPE (GPT-2, BART); without it, learnt", CLI::ExistingFile);
  tokenizer("--merges", o.merges, "Its merges.txt", CLI::ExistingFile);
  tokenizer("--vocabulary", o.vocabulary, "Tokens to learn", whole_number(260))->capture_default_str();
  tokenizer("--separate", o.separate, "Learn one for each language");
  add_rule(app, "--too-long", o.shards.too_long, "Sentences of more than --longest tokens are cut, or their pairs dropped",
           {{"cut", TooLong::cut}, {"drop", TooLong::drop}});
  add_rule(app, "--invalid", o.text.rules.invalid,
           "Pairs that are not UTF-8: drop; repair, with U+FFFD; or refuse the file",
           {{"drop", InvalidUtf8::drop}, {"repair", InvalidUtf8::repair}, {"refuse", InvalidUtf8::refuse}});
  add_rule(app, "--blank", o.text.rules.blank, "Pairs with a side of nothing but white space",
           {{"drop", BlankSide::drop}, {"keep", BlankSide::keep}});
  add_rule(app, "--duplicates", o.text.rules.duplicates,
           "Pairs that were there before (drop remembers 8 bytes a pair and more)",
           {{"keep", Duplicates::keep}, {"drop", Duplicates::drop}});
  add_rule(app, "--unequal", o.text.unequal, "Files of unequal numbers of lines: refuse, or drop the lines that are left",
           {{"refuse", UnequalLines::refuse}, {"drop", UnequalLines::drop}});
  const AddOptions shards{app, "Shards"};
  shards("--longest", o.shards.longest, "Tokens of a sentence", whole_number(1, 1 << 20))->capture_default_str();
  shards("--shard-pairs", o.shards.pairs, "Pairs that are read for a shard", whole_number(1, 1 << 24))
      ->capture_default_str();
  shards("--threads", o.shards.threads, "One a core unless told", whole_number(1, 1024));
  read_command_line(app, count, words, [&] {
    if (source.size() != target.size())
      throw CLI::ValidationError("--source and --target go together: as many files of each");
    if (source.empty() && tsv.empty() && csv.empty())
      throw CLI::ValidationError("there is no text: give --source and --target, --tsv or --csv");
    if (!columns.empty() && (columns.size() != 2 || columns[0] == columns[1]))
      throw CLI::ValidationError("--columns names two columns, such as 2,4 or en,de");
    if (o.vocab.empty() != o.merges.empty())
      throw CLI::ValidationError("--vocab and --merges go together: give both, or neither");
    if (!o.vocab.empty() && o.separate) throw CLI::ValidationError("--separate learns, and --vocab gives: leave one out");
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
