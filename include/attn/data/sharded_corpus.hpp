#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "attn/core/thread_pool.hpp"
#include "attn/data/corpus_view.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/data/shard.hpp"
#include "attn/text/content_hash.hpp"

namespace attn {

/// Sentence pairs in a sequence of memory-mapped shards. Copies none of them into memory.
class ShardedCorpus {
 public:
  /// Truncates each sentence to its first `truncate` tokens.
  explicit ShardedCorpus(const std::vector<std::filesystem::path>& shards, Index truncate = keep_all_tokens)
      : truncate_(truncate) {
    require(!shards.empty(), "ShardedCorpus: no shards. Pass at least one file.");
    require(truncate > 0, "ShardedCorpus: cannot truncate sentences to ", truncate, " tokens; keep at least 1");
    for (const std::filesystem::path& path : shards) {
      const ShardHeader& added = shards_.emplace_back(path).header();
      require(added.source_tokenizer == header().source_tokenizer && added.target_tokenizer == header().target_tokenizer,
              path.string(), " was created with another tokenizer than ", shards.front().string(),
              ". Create both with the same one.");
      ends_.push_back(ends_.back() + static_cast<Index>(added.pairs));
    }
  }

  Index size() const { return ends_.back(); }
  Index source_length(Index i) const {
    const auto [shard, place] = find(i);
    return std::min(shard->source_length(place), truncate_);
  }
  Index target_length(Index i) const {
    const auto [shard, place] = find(i);
    return std::min(shard->target_length(place), truncate_);
  }
  std::span<const Token> source_tokens(Index i, std::vector<Token>& space) const {
    const auto [shard, place] = find(i);
    return shard->source_tokens(place, truncate_, space);
  }
  std::span<const Token> target_tokens(Index i, std::vector<Token>& space) const {
    const auto [shard, place] = find(i);
    return shard->target_tokens(place, truncate_, space);
  }

  const std::vector<Shard>& shards() const { return shards_; }
  /// The first shard's header. All shards have its tokenizers and vocabularies.
  const ShardHeader& header() const { return shards_.front().header(); }

  /// Tokens of both sides, before truncation.
  Index tokens() const {
    Index all = 0;
    for (const Shard& shard : shards_) all += static_cast<Index>(shard.header().tokens);
    return all;
  }

  /// Throws unless the checksums of all shards match. Reads every shard once.
  void verify(Index threads = all_threads()) const {
    parallel_for(std::ssize(shards_), threads, [&](Index i) { shards_[static_cast<std::size_t>(i)].verify(); });
  }

  /// Throws unless these tokenizers made the shards.
  template <class SourceTokenizer, class TargetTokenizer>
  void require_tokenizers(const SourceTokenizer& source, const TargetTokenizer& target) const {
    require(source.hash() == header().source_tokenizer && target.hash() == header().target_tokenizer,
            shards_.front().path().string(),
            " was created with another tokenizer: its token ids differ. Use the tokenizer in the folder of the shards, or "
            "create them again.");
  }

 private:
  /// The shard of pair i, and the index in it. Most shards have as many pairs as the first, which makes the search
  /// unnecessary.
  std::pair<const Shard*, Index> find(Index i) const {
    auto at = static_cast<std::size_t>(std::min(i / std::max<Index>(ends_[1], 1), std::ssize(shards_) - 1));
    if (i < ends_[at] || i >= ends_[at + 1])
      at = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin()) - 1;
    return {&shards_[at], i - ends_[at]};
  }

  std::vector<Shard> shards_;
  std::vector<Index> ends_{0};  // ends_[s]: pairs before shard s; the last: all pairs
  Index truncate_;
};

static_assert(TokenPairs<ShardedCorpus>);

/// A hash of all pairs in order, and of the split into shards.
inline std::uint64_t content_hash(const ShardedCorpus& corpus) {
  ContentHash hash;
  for (const Shard& shard : corpus.shards()) hash.add(shard.header().data_checksum);
  return hash.value();
}

}  // namespace attn
