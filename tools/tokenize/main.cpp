// Tokenizes parallel text into shards for training and prints statistics of the text.

#include <unistd.h>

#include <chrono>
#include <exception>
#include <iomanip>
#include <iostream>

#include "attn/core/format_count.hpp"
#include "attn/run/corpus_folder.hpp"
#include "attn/train/terminal.hpp"
#include "common/count_words.hpp"
#include "common/folder_lock.hpp"
#include "common/standard_output.hpp"
#include "options.hpp"

using namespace attn;

namespace {

/// Progress of a pass over the text: one redrawn line on a terminal, otherwise a line every 30 seconds.
class PassProgress {
 public:
  PassProgress(const PairStream& text, std::string what) : text_(text), what_(std::move(what)) {}
  ~PassProgress() {
    if (drawn_ && terminal_) std::cout << "\n" << std::flush;
  }

  /// Always returns true (continue).
  bool operator()(Index pairs, Index tokens) {
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(terminal_ ? 100 : 30'000)) return true;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count(), begun = text_.begun();
    const std::string figures =
        what_ + "  " + counted(pairs, "pair") + "  " +
        (tokens > 0 ? format_count(static_cast<Index>(static_cast<double>(tokens) / seconds)) + " tok/s  " : "") +
        format_duration(begun > 0 ? seconds * (1 - begun) / begun : -1) + " left";
    const std::string line =
        progress_line(static_cast<Index>(begun * 1000), 1000, figures, terminal_ ? std::optional<Index>(79) : std::nullopt);
    std::cout << (terminal_ ? "\r" + line + "\x1b[K" : line + "\n") << std::flush;
    return drawn_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const PairStream& text_;
  std::string what_;
  const bool terminal_ = ::isatty(1) != 0;
  bool drawn_ = false;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

/// Returns the given tokenizers, those already in the folder, or newly learned ones.
CorpusTokenizers find_tokenizers(const Options& o, const std::string& made_of) {
  if (!o.vocab.empty()) {
    const AnyTokenizer given = load_byte_bpe(o.vocab, o.merges);
    begin_corpus(o.folder, {given, given}, made_of);
    return CorpusTokenizers{given, given};
  }
  if (auto before = tokenizers_of_corpus(o.folder, made_of)) return *before;
  PairStream text(o.text);
  WordsOfPairs words;
  {
    PassProgress progress(text, "counting words");
    words = count_words(text, o.shards.threads, [&](Index pairs) { return progress(pairs, 0); });
  }
  if (!o.separate) words.source.add(words.target);
  const AnyTokenizer source = words.source.train(o.vocabulary);
  const CorpusTokenizers learnt{source, o.separate ? AnyTokenizer(words.target.train(o.vocabulary)) : source};
  std::cout << "vocabulary of " << counted(learnt.source.size(), "token")
            << (o.separate ? " and " + format_count(learnt.target.size()) : "") << "\n";
  begin_corpus(o.folder, learnt, made_of);
  return learnt;
}

/// Accepts an existing corpus in the folder if it can be resumed or replaced; rejects a folder with a run.
void check_folder(const Options& o, const std::string& made_of) {
  require_no_run(o.folder);
  require(o.overwrite || !has_corpus(o.folder) || (!made_of.empty() && corpus_made_of(o.folder) == made_of),
          o.folder.string(),
          " contains a corpus of another text, or with other rules. Choose another folder, or replace it (--overwrite).");
}

void summarise(const Options& o, const PairStream& text, const MadeShards& made) {
  const RuleCounts& counts = text.counts();
  const auto& rules = o.text.rules;
  const auto print = [](Index count, const char* noun, const char* how, const char* became) {
    if (count > 0) std::cout << "  " << counted(count, noun) << " " << how << ": " << became << "\n";
  };
  std::cout << counted(counts.read, "pair") << " read, " << format_count(made.pairs) << " kept, of "
            << counted(made.tokens, "token") << "\n";
  print(counts.invalid, "pair", "of invalid UTF-8", rules.invalid == InvalidUtf8::repair ? "repaired" : "dropped");
  print(counts.blank, "pair", "with a blank side", rules.blank == BlankSide::keep ? "kept" : "dropped");
  print(counts.duplicates, "pair", "repeated", "dropped");
  print(text.unpaired(), "line", "without a counterpart", "dropped");
  print(made.too_long, "pair", "too long", "dropped");
  print(made.source_cut + made.target_cut, "sentence", "too long", "cut");
  std::cout << "\n" << std::left << std::setw(28) << "tokens, with <s> and </s>" << std::right;
  for (const char* head : {"average", "rounded up", "shortest", "longest"}) std::cout << std::setw(12) << head;
  for (const auto& [name, side] : {std::pair("source", &made.source), {"target", &made.target}}) {
    const bool none = side->sentences() == 0;
    std::cout << "\n"
              << std::left << std::setw(28) << name << std::right << std::setw(12)
              << format_decimals(side->average() + 2, 2);
    for (const Index figure : {side->average_rounded_up(), side->shortest(), side->longest()})
      std::cout << std::setw(12) << format_count(none ? 0 : figure + 2);
  }
  std::cout << "\n\n"
            << counted(made.files.size(), "shard") << " in " << o.folder.string() << ", " << made.made << " of them new\n";
  require_written(std::cout, "the summary");
}

}  // namespace

// Signals end the program at once. Files are replaced atomically, and the same command resumes the work.
int main(int count, char** words) try {
  const Options options = read_options(count, words);
  const FolderLock lock(options.folder);
  const std::string settings = made_of(options);
  check_folder(options, settings);
  const CorpusTokenizers tokenizers = find_tokenizers(options, settings);
  PairStream text(options.text);
  MadeShards made;
  {
    PassProgress progress(text, "tokenising");
    made = make_shards(text, tokenizers.source, tokenizers.target, options.folder, options.shards,
                       [&](const MadeShards& now) { return progress(now.pairs, now.tokens); });
  }
  require(made.pairs > 0, "the rules keep no pairs of the text (", text.counts().read, " were read)");
  const RuleCounts& counts = text.counts();
  complete_corpus(options.folder, made,
                  {{"read", counts.read},
                   {"invalid", counts.invalid},
                   {"blank", counts.blank},
                   {"duplicates", counts.duplicates},
                   {"unpaired", text.unpaired()},
                   {"too_long", made.too_long},
                   {"cut", made.source_cut + made.target_cut}});
  for (std::size_t left = made.files.size(); std::filesystem::remove(options.folder / shard_name(left));) ++left;
  summarise(options, text, made);
} catch (const std::exception& error) {
  std::cerr << "tokenize: " << error.what() << "\n";
  return 1;
}
