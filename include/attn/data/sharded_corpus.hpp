#pragma once
#include <bit>

#include "attn/core/checksum.hpp"
#include "attn/data/corpus_view.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/text/content_hash.hpp"

// Shard format: a memory-mapped file of sentence pairs as token ids.
// 1. A ShardHeader.
// 2. The token offset of each sentence, source and target alternating, and the end of the last one (32 bits each).
// 3. The tokens, 16-bit if all ids of both vocabularies fit, else 32-bit.

namespace attn {

static_assert(std::endian::native == std::endian::little, "shards are little-endian; so must the machine be");

inline constexpr std::uint32_t shard_format = 1;

/// The header of a shard.
struct ShardHeader {
  std::array<char, 8> kind{'a', 't', 't', 'n', 's', 'h', 'r', 'd'};
  std::uint32_t format = shard_format, token_bytes = 4;
  std::uint64_t number = 0, pairs = 0, tokens = 0;
  std::uint64_t made_of = 0;                                 // hash of the text and the rules
  std::uint64_t source_tokenizer = 0, target_tokenizer = 0;  // hashes
  std::uint64_t source_vocabulary = 0, target_vocabulary = 0;
  std::uint64_t source_cut = 0, target_cut = 0, too_long = 0;  // truncated sentences, dropped pairs
  LengthStatistics source, target;                             // of all sentences, before truncating and dropping
  std::uint64_t data_checksum = 0, header_checksum = 0;        // header_checksum: of all fields before it

  std::uint64_t checksum() const { return Checksum(this, offsetof(ShardHeader, header_checksum)).value(); }
  /// The expected file size. For impossible counts, a size that no file has.
  std::uint64_t file_size() const {
    constexpr std::uint64_t most = std::uint64_t{1} << 56;
    if (pairs > most || tokens > most) return most;
    return sizeof(ShardHeader) + (2 * pairs + 1) * sizeof(std::uint32_t) + tokens * token_bytes;
  }
};
static_assert(std::is_trivially_copyable_v<ShardHeader> && sizeof(ShardHeader) == 184, "a shard's header is a file's");

/// Sentence pairs to write to a shard.
struct ShardPairs {
  std::vector<Token> tokens;
  std::vector<std::uint32_t> begins{0};

  void add(std::span<const Token> source, std::span<const Token> target) {
    for (const auto side : {source, target}) {
      tokens.insert(tokens.end(), side.begin(), side.end());
      require(tokens.size() <= std::numeric_limits<std::uint32_t>::max(), "a shard cannot hold more than ",
              std::numeric_limits<std::uint32_t>::max(), " tokens. Create smaller ones.");
      begins.push_back(static_cast<std::uint32_t>(tokens.size()));
    }
  }
};

/// Writes a shard atomically (see replace_file). Fills in the header fields that follow from the pairs and returns the
/// header.
inline ShardHeader write_shard(const std::filesystem::path& path, ShardHeader header, const ShardPairs& pairs) {
  const auto vocabulary = std::max(header.source_vocabulary, header.target_vocabulary);
  header.token_bytes = vocabulary <= 1 << 16 ? 2 : 4;
  header.pairs = pairs.begins.size() / 2;
  header.tokens = pairs.tokens.size();
  std::vector<std::uint16_t> narrow;
  if (header.token_bytes == 2) narrow.assign(pairs.tokens.begin(), pairs.tokens.end());
  const void* tokens = narrow.empty() ? static_cast<const void*>(pairs.tokens.data()) : narrow.data();
  const auto begins_bytes = static_cast<Index>(pairs.begins.size() * sizeof(std::uint32_t));
  const auto tokens_bytes = static_cast<Index>(header.tokens * header.token_bytes);
  Checksum sum(pairs.begins.data(), begins_bytes);
  sum.add(tokens, tokens_bytes);
  header.data_checksum = sum.value();
  header.header_checksum = header.checksum();
  replace_file(path, [&](OpenFile& file) {
    file.write(&header, sizeof header);
    file.write(pairs.begins.data(), begins_bytes);
    file.write(tokens, tokens_bytes);
  });
  return header;
}

/// A memory-mapped shard. The constructor checks the header and the size; every read checks its bounds; verify() reads the
/// whole file.
class Shard {
 public:
  explicit Shard(std::filesystem::path path) : path_(std::move(path)) {
    std::size_t size = 0;
    mapping_ = map_file(path_, size);
    const auto cut_off = [&](std::uint64_t needed) {
      fail(path_.string(), " is cut off: it has ", size, " of ", needed, " bytes. Repeat the command that created it.");
    };
    if (size < sizeof header_) cut_off(sizeof header_);
    std::memcpy(&header_, bytes(), sizeof header_);
    require(header_.kind == ShardHeader().kind, path_.string(), " is not a shard of tokens");
    require(header_.format == shard_format, path_.string(), " has format ", header_.format,
            ", but this program reads format ", shard_format,
            ". Create the shards again, or use the version of attn that created them.");
    if (header_.header_checksum != header_.checksum() || (header_.token_bytes != 2 && header_.token_bytes != 4)) damaged();
    if (size < header_.file_size()) cut_off(header_.file_size());
    if (size > header_.file_size()) damaged();
  }

  const std::filesystem::path& path() const { return path_; }
  const ShardHeader& header() const { return header_; }
  Index pairs() const { return static_cast<Index>(header_.pairs); }

  /// Sentence 2i is the source of pair i, sentence 2i + 1 its target.
  Index length(Index sentence) const {
    const auto [begin, end] = range(sentence);
    return Index{end} - Index{begin};
  }
  /// The first `most` tokens, in place or copied to `space`.
  std::span<const Token> tokens(Index sentence, Index most, std::vector<Token>& space) const {
    const auto [begin, end] = range(sentence);
    const auto count = static_cast<std::size_t>(std::min(Index{end} - Index{begin}, most));
    const char* first = bytes() + sizeof header_ + (2 * header_.pairs + 1) * sizeof(std::uint32_t) +
                        std::size_t{begin} * header_.token_bytes;
    std::span<const Token> found;
    if (header_.token_bytes == 2) {
      const auto* narrow = reinterpret_cast<const std::uint16_t*>(first);
      space.assign(narrow, narrow + count);
      found = space;
    } else {
      found = {reinterpret_cast<const Token*>(first), count};
    }
    const auto vocabulary = sentence % 2 == 0 ? header_.source_vocabulary : header_.target_vocabulary;
    for (const Token token : found)
      if (static_cast<std::uint32_t>(token) >= vocabulary) damaged();  // outside the embedding table
    return found;
  }

  /// Throws unless the file's checksum matches.
  void verify() const {
    const auto size = static_cast<Index>(header_.file_size() - sizeof(ShardHeader));
    if (Checksum(bytes() + sizeof(ShardHeader), size).value() != header_.data_checksum) damaged();
  }

 private:
  const char* bytes() const { return mapping_.get(); }
  [[noreturn]] void damaged() const {
    fail(path_.string(), " is damaged: its checksum does not match. Repeat the command that created it.");
  }
  std::pair<std::uint32_t, std::uint32_t> range(Index sentence) const {
    std::uint32_t ends[2];
    std::memcpy(ends, bytes() + sizeof(ShardHeader) + static_cast<std::size_t>(sentence) * sizeof *ends, sizeof ends);
    if (ends[0] > ends[1] || ends[1] > header_.tokens) damaged();
    return {ends[0], ends[1]};
  }

  std::filesystem::path path_;
  std::shared_ptr<const char> mapping_;
  ShardHeader header_;
};

/// The header of a shard, or empty if the file does not exist or is damaged. Reads the whole file.
inline std::optional<ShardHeader> read_shard_header(const std::filesystem::path& path) {
  if (!file_exists(path)) return std::nullopt;
  try {
    const Shard shard(path);
    shard.verify();
    return shard.header();
  } catch (const Error&) {
    return std::nullopt;
  }
}

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
  Index source_length(Index i) const { return length(i, 0); }
  Index target_length(Index i) const { return length(i, 1); }
  std::span<const Token> source_tokens(Index i, std::vector<Token>& space) const { return tokens(i, 0, space); }
  std::span<const Token> target_tokens(Index i, std::vector<Token>& space) const { return tokens(i, 1, space); }

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
  Index length(Index i, Index side) const {
    const auto [shard, first] = find(i);
    return std::min(shard->length(first + side), truncate_);
  }
  std::span<const Token> tokens(Index i, Index side, std::vector<Token>& space) const {
    const auto [shard, first] = find(i);
    return shard->tokens(first + side, truncate_, space);
  }

  /// The shard of pair i, and its first sentence there. Most shards have as many pairs as the first, which makes the search
  /// unnecessary.
  std::pair<const Shard*, Index> find(Index i) const {
    auto at = static_cast<std::size_t>(std::min(i / std::max<Index>(ends_[1], 1), std::ssize(shards_) - 1));
    if (i < ends_[at] || i >= ends_[at + 1])
      at = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin()) - 1;
    return {&shards_[at], 2 * (i - ends_[at])};
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
