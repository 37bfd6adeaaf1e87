#include "attn/data/sharded_corpus.hpp"

#include <doctest/doctest.h>

#include "attn/core/random.hpp"
#include "attn/data/batches.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

constexpr SpecialTokens special_tokens{.begin = 1, .end = 2, .source_end = 3};

std::vector<Token> random_sentence(Random& random) {
  std::vector<Token> tokens(static_cast<std::size_t>(random.below(20)));
  for (Token& token : tokens) token = static_cast<Token>(10 + random.below(90));
  return tokens;
}

/// A corpus in memory, and the same in shards of unequal sizes, one of them empty.
struct Both {
  TemporaryFolder folder;
  ParallelCorpus memory;
  std::vector<std::filesystem::path> files;

  explicit Both(Index vocabulary) {
    Random random(7);
    for (const Index pairs : {50, 0, 1, 149}) {
      ShardPairs shard;
      for (Index i = 0; i < pairs; ++i) {
        memory.source.push_back(random_sentence(random));
        memory.target.push_back(random_sentence(random));
        shard.add(memory.source[memory.size() - 1], memory.target[memory.size() - 1]);
      }
      files.push_back(folder / (std::to_string(files.size()) + ".shard"));
      ShardHeader header;
      header.source_vocabulary = header.target_vocabulary = static_cast<std::uint64_t>(vocabulary);
      header.source_tokenizer = header.target_tokenizer = 5;
      write_shard(files.back(), header, shard);
    }
  }
};

std::vector<Batch> epoch(Batches& batches, Index number) {
  std::vector<Batch> all;
  batches.start_epoch(number);
  for (Batch batch; batches.next(batch);) all.push_back(batch);
  return all;
}

struct FakeTokenizer {
  std::uint64_t value;
  std::uint64_t hash() const { return value; }
};

}  // namespace

TEST_CASE("sharded corpus: batches equal those of the corpus in memory for any order and token width") {
  for (const Index vocabulary : {100, 100'000}) {
    const Both both(vocabulary);
    const ShardedCorpus shards(both.files);
    CHECK(shards.size() == 200);
    CHECK(shards.tokens() == static_cast<Index>(both.memory.source.tokens.size() + both.memory.target.tokens.size()));
    for (const BatchOrder order : {BatchOrder::sequential, BatchOrder::shuffled, BatchOrder::pooled})
      for (const auto& [unit, size] : {std::pair(BatchUnit::sentences, 8), {BatchUnit::tokens, 100}}) {
        const BatchOptions options{.size = size, .unit = unit, .order = order, .pool = 5, .seed = 3};
        Batches in_memory(both.memory, special_tokens, options), in_shards(shards, special_tokens, options);
        for (const Index number : {0, 1, 5}) CHECK(epoch(in_memory, number) == epoch(in_shards, number));
        CHECK(in_memory.largest(0, 2) == in_shards.largest(0, 2));
        in_memory.seek({4, 7}), in_shards.seek({4, 7});
        Batch a, b;
        CHECK(in_memory.next(a));
        CHECK(in_shards.next(b));
        CHECK(a == b);
      }
  }
}

TEST_CASE("sharded corpus: sentences can be truncated on reading") {
  const Both both(100);
  const ShardedCorpus shards(both.files, 4);
  std::vector<Token> space;
  for (Index i = 0; i < shards.size(); ++i) {
    const auto whole = both.memory.target[i];
    const auto cut = whole.first(std::min<std::size_t>(4, whole.size()));
    CHECK(std::ranges::equal(shards.target_tokens(i, space), cut));
    CHECK(shards.target_length(i) == std::ssize(cut));
    CHECK(shards.source_length(i) == std::min<Index>(4, both.memory.source.length(i)));
    CHECK(std::ssize(shards.source_tokens(i, space)) == shards.source_length(i));
  }
}

TEST_CASE("sharded corpus: a part of a corpus is a corpus") {
  const Both both(100);
  const ShardedCorpus shards(both.files);
  const CorpusView part = CorpusView(shards).part(45, 30).part(2, 20);  // from one shard to the next
  CHECK(part.size() == 20);
  std::vector<Token> space;
  for (Index i = 0; i < 20; ++i) {
    CHECK(std::ranges::equal(part.source_tokens(i, space), both.memory.source[47 + i]));
    CHECK(part.target_length(i) == both.memory.target.length(47 + i));
  }
  CHECK(CorpusView(shards).part(200, 0).size() == 0);
  CHECK(contains(error_of([&] { (void)CorpusView(shards).part(190, 11); }),
                 "pairs 190 to 201 are out of range: the corpus has 200 pairs"));
  CHECK(contains(error_of([&] { (void)CorpusView(shards).part(-1, 1); }), "pairs -1 to 0"));
}

TEST_CASE("sharded corpus: rejects shards of different corpora") {
  const Both both(100);
  CHECK(contains(error_of([] { ShardedCorpus none(std::vector<std::filesystem::path>{}); }),
                 "no shards. Pass at least one file."));
  CHECK(contains(error_of([&] { ShardedCorpus none(both.files, 0); }), "cannot truncate sentences to 0 tokens"));
  ShardHeader other;
  other.source_vocabulary = other.target_vocabulary = 100;
  other.source_tokenizer = 5, other.target_tokenizer = 6;
  write_shard(both.files[2], other, {});
  CHECK(contains(error_of([&] { ShardedCorpus mixed(both.files); }), "2.shard was created with another tokenizer than"));
  const ShardedCorpus one({both.files[0]});
  CHECK_NOTHROW(one.require_tokenizers(FakeTokenizer{5}, FakeTokenizer{5}));
  CHECK(contains(error_of([&] { one.require_tokenizers(FakeTokenizer{5}, FakeTokenizer{6}); }),
                 "0.shard was created with another tokenizer"));
}

TEST_CASE("sharded corpus: the content hash changes with the tokens") {
  const Both both(100), same(100);
  CHECK(content_hash(ShardedCorpus(both.files)) == content_hash(ShardedCorpus(same.files)));
  ShardPairs pairs;
  pairs.add(std::vector<Token>{5}, std::vector<Token>{6});
  const ShardHeader header = ShardedCorpus(both.files).header();
  write_shard(same.files[1], header, pairs);
  CHECK(content_hash(ShardedCorpus(both.files)) != content_hash(ShardedCorpus(same.files)));
}
