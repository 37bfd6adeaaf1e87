#include "attn/data/shard_maker.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/core/random.hpp"
#include "attn/data/sharded_corpus.hpp"
#include "common/count_words.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

/// A text of random words in two files.
struct Text {
  TemporaryFolder folder;
  ParallelText lines;
  PairText files;

  explicit Text(Index pairs) {
    Random random(4);
    std::string source, target;
    for (Index i = 0; i < pairs; ++i) {
      for (auto* side : {&lines.source, &lines.target}) {
        std::string line;
        for (Index words = 1 + random.below(12); words > 0; --words)
          line += (line.empty() ? "" : " ") +
                  std::string(static_cast<std::size_t>(1 + random.below(3)), static_cast<char>('a' + random.below(26)));
        side->push_back(line);
      }
      source += lines.source.back() + "\n", target += lines.target.back() + "\n";
    }
    write_file(folder / "a.en", source);
    write_file(folder / "a.de", target);
    files.files = {{PairFormat::lines, folder / "a.en", folder / "a.de"}};
  }

  MadeShards make(const std::filesystem::path& to, const ByteBpe& bpe, const ShardOptions& options,
                  const std::function<bool(const MadeShards&)>& say = {}) const {
    make_folder(to);
    PairStream stream(files);
    return make_shards(stream, bpe, bpe, to, options, say);
  }
};

ByteBpe bpe_of(const ParallelText& lines) { return learn_byte_bpe(300, lines.source, lines.target); }

std::vector<std::string> contents(const MadeShards& made) {
  std::vector<std::string> all;
  for (const auto& file : made.files) all.push_back(read_file(file));
  return all;
}

}  // namespace

TEST_CASE("shard maker: shards equal the text encoded in memory") {
  const Text text(3000);
  const ByteBpe bpe = bpe_of(text.lines);
  const MadeShards made = text.make(text.folder / "shards", bpe, {.pairs = 1250, .longest = 20});
  const ParallelCorpus memory = encode_corpus(text.lines, bpe, bpe, 20);
  const ShardedCorpus shards(made.files);
  CHECK(made.files.size() == 3);
  CHECK(made.files[2].filename() == "00002.shard");
  CHECK(made.made == 3);
  CHECK(made.pairs == 3000);
  CHECK(made.tokens == static_cast<Index>(memory.source.tokens.size() + memory.target.tokens.size()));
  REQUIRE(shards.size() == memory.size());
  std::vector<Token> space;
  Index cut = 0;
  LengthStatistics lengths;
  for (Index i = 0; i < memory.size(); ++i) {
    CHECK(std::ranges::equal(shards.source_tokens(i, space), memory.source[i]));
    CHECK(std::ranges::equal(shards.target_tokens(i, space), memory.target[i]));
    lengths.add(std::ssize(bpe.encode(text.lines.source[static_cast<std::size_t>(i)])));
    cut += std::ssize(bpe.encode(text.lines.source[static_cast<std::size_t>(i)])) > 20 ? 1 : 0;
  }
  CHECK(made.source_cut == cut);
  CHECK(cut > 0);
  CHECK(made.source.total() == lengths.total());  // before sentences were cut
  CHECK(made.source.longest() == lengths.longest());
  CHECK(made.target.sentences() == 3000);
}

TEST_CASE("shard maker: the bytes do not depend on the number of threads") {
  const Text text(5000);
  const ByteBpe bpe = bpe_of(text.lines);
  const auto one = contents(text.make(text.folder / "1", bpe, {.pairs = 4000, .threads = 1}));
  CHECK(one == contents(text.make(text.folder / "3", bpe, {.pairs = 4000, .threads = 3})));
  CHECK(one.size() == 2);
}

TEST_CASE("shard maker: pairs with too long sentences can be dropped") {
  const Text text(500);
  const ByteBpe bpe = bpe_of(text.lines);
  const MadeShards made = text.make(text.folder / "shards", bpe, {.longest = 12, .too_long = TooLong::drop});
  Index left = 0;
  for (std::size_t i = 0; i < 500; ++i)
    left += bpe.encode(text.lines.source[i]).size() > 12 || bpe.encode(text.lines.target[i]).size() > 12 ? 1 : 0;
  CHECK(made.too_long == left);
  CHECK(left > 0);
  CHECK(made.pairs == 500 - left);
  CHECK(made.source_cut + made.target_cut == 0);
  CHECK(made.source.sentences() == 500);
}

TEST_CASE("shard maker: keeps finished shards unless they would change") {
  const Text text(1000);
  const ByteBpe bpe = bpe_of(text.lines);
  const auto folder = text.folder / "shards";
  const ShardOptions options{.pairs = 300};
  MadeShards stopped = text.make(folder, bpe, options, [](const MadeShards& now) { return now.files.size() < 2; });
  CHECK(stopped.files.size() == 2);
  const auto time = std::filesystem::last_write_time(stopped.files[0]);

  const MadeShards whole = text.make(folder, bpe, options);
  CHECK(whole.files.size() == 4);
  CHECK(whole.made == 2);
  CHECK(std::filesystem::last_write_time(whole.files[0]) == time);
  CHECK(contents(whole) == contents(text.make(text.folder / "others", bpe, options)));
  CHECK(whole.source.total() == text.make(folder, bpe, options).source.total());
  CHECK(text.make(folder, bpe, options).made == 0);

  SUBCASE("a damaged shard") {
    std::filesystem::resize_file(whole.files[1], 500);
    CHECK(text.make(folder, bpe, options).made == 1);
  }
  SUBCASE("another tokenizer") { CHECK(text.make(folder, learn_byte_bpe(280, text.lines.source), options).made == 4); }
  SUBCASE("another limit") { CHECK(text.make(folder, bpe, {.pairs = 300, .longest = 7}).made == 4); }
  SUBCASE("another rule") { CHECK(text.make(folder, bpe, {.pairs = 300, .too_long = TooLong::drop}).made == 4); }
  SUBCASE("another text") {
    std::string lines = read_file(text.folder / "a.en");
    lines[lines.size() - 2] = '!';
    write_file(text.folder / "a.en", lines);
    CHECK(text.make(folder, bpe, options).made == 1);
  }
}

TEST_CASE("shard maker: a killed run resumes and ends with the same bytes") {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  MESSAGE("left out: the thread sanitizer does not survive a fork beside other threads");
  return;
#endif
#endif
  const Text text(3000);
  const ByteBpe bpe = bpe_of(text.lines);
  const ShardOptions options{.pairs = 200, .threads = 1};
  const auto folder = text.folder / "killed";
  make_folder(folder);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    text.make(folder, bpe, options, [](const MadeShards& now) {
      if (now.files.size() == 5) ::kill(::getpid(), SIGKILL);
      return true;
    });
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  const MadeShards made = text.make(folder, bpe, options);
  CHECK(made.files.size() == 15);
  CHECK(made.made == 10);
  CHECK(contents(made) == contents(text.make(text.folder / "whole", bpe, options)));
}

TEST_CASE("shard maker: rejects invalid options") {
  const Text text(3);
  const ByteBpe bpe = bpe_of(text.lines);
  CHECK(contains(error_of([&] { text.make(text.folder / "x", bpe, {.pairs = 0}); }), "pairs is 0, but must be at least 1"));
  CHECK(contains(error_of([&] { text.make(text.folder / "x", bpe, {.longest = 0}); }),
                 "longest is 0, but must be at least 1"));
  CHECK(contains(error_of([&] {
                   PairStream stream(text.files);
                   make_shards(stream, bpe, bpe, text.folder / "missing", {});
                 }),
                 "00000.shard"));
}

TEST_CASE("shard maker: BPE learned from a stream equals BPE learned from lines with any number of threads") {
  const Text text(60'000);
  const ByteBpe whole = bpe_of(text.lines);
  for (const Index threads : {1, 3}) {
    PairStream stream(text.files);
    WordsOfPairs words = count_words(stream, threads);
    words.source.add(words.target);
    CHECK(words.source.train(300).hash() == whole.hash());
  }
  BpeTrainer one_by_one;
  for (const auto* side : {&text.lines.source, &text.lines.target})
    for (const std::string& line : *side) one_by_one.add(line);
  CHECK(one_by_one.train(300).hash() == whole.hash());
}
