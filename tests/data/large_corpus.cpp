#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "attn/core/random.hpp"
#include "attn/data/prefetch.hpp"
#include "attn/data/sharded_corpus.hpp"
#include "support/files.hpp"
#include "support/sanitizer.hpp"

using namespace attn;

namespace {

/// Bytes of memory that this process may write to, and nobody else: what RLIMIT_DATA limits. Mapped files are none of it.
Index private_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmData:") {
      Index kilobytes = 0;
      status >> kilobytes;
      return kilobytes << 10;
    }
  return 0;
}

/// Shards of `count` pairs each, of 20 to 79 tokens; the files, and how many tokens there are.
std::pair<std::vector<std::filesystem::path>, Index> generate(const TemporaryFolder& folder, Index shards, Index count) {
  std::vector<std::filesystem::path> files;
  Index tokens = 0;
  ShardHeader header;
  header.source_vocabulary = header.target_vocabulary = 50'000;
  for (Index shard = 0; shard < shards; ++shard) {
    ShardPairs pairs;
    std::vector<Token> sentence(40);
    for (Index i = 0; i < count; ++i) {
      const std::uint32_t drawn = scramble(static_cast<std::uint32_t>(shard * count + i));
      for (std::size_t j = 0; j < 40; ++j) sentence[j] = static_cast<Token>((drawn + 977 * j) % 50'000);
      pairs.add(std::span(sentence).first(10 + drawn % 30), std::span(sentence).first(10 + (drawn >> 8) % 30));
    }
    tokens += std::ssize(pairs.tokens);
    files.push_back(folder / (std::to_string(shard) + ".shard"));
    write_shard(files.back(), header, pairs);
  }
  return {files, tokens};
}

/// Deals the corpus out for an epoch, as a training does; whether all tokens came.
bool whole_epoch(const std::vector<std::filesystem::path>& files, Index tokens) {
  const ShardedCorpus corpus(files);
  Batches batches(corpus, {.begin = 1, .end = 2}, {.size = 24'576, .unit = BatchUnit::tokens, .order = BatchOrder::pooled});
  const std::vector<Batch> largest = batches.largest(0, 1);
  Prefetch prefetch(batches, {1, 0}, 4);
  Index seen = 0;
  for (Batch batch; prefetch.next(batch);)
    seen += static_cast<Index>(batch.source.tokens.size()) + batch.labels() - batch.size();
  return seen == tokens && !largest.empty();
}

/// How large the corpus is: ATTN_CORPUS_MB, or a size that takes seconds.
Index corpus_megabytes() {
  const char* given = std::getenv("ATTN_CORPUS_MB");
  return given != nullptr ? std::atoll(given) : 240;
}

}  // namespace

TEST_CASE("large corpus: batches use at most a fifth of the corpus size in memory") {
  if (kSanitized) {
    MESSAGE("left out: a sanitizer takes memory of its own");
    return;
  }
  const TemporaryFolder folder;
  constexpr Index pairs = 100'000;
  const Index shards = corpus_megabytes() * 1'000'000 / (pairs * 106) + 1;
  const auto [files, tokens] = generate(folder, shards, pairs);
  const Index bytes = 2 * tokens + 8 * shards * pairs;
  CHECK(bytes > corpus_megabytes() * 1'000'000);
  MESSAGE("a corpus of ", bytes, " bytes, ", shards * pairs, " pairs");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto most = static_cast<rlim_t>(private_bytes() + corpus_megabytes() * 1'000'000 / 5);
    const rlimit limit{most, most};
    int status = ::setrlimit(RLIMIT_DATA, &limit) == 0 ? 1 : 2;
    try {
      if (status == 1 && whole_epoch(files, tokens)) status = 0;
    } catch (const std::exception&) {
      status = 3;
    }
    ::_exit(status);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);  // 1: tokens are missing; 2: no limit can be set; 3: memory does not suffice
}
