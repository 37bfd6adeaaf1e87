#pragma once
#include <future>

#include "attn/data/pair_stream.hpp"
#include "attn/data/sharded_corpus.hpp"
#include "attn/text/tokenizer.hpp"

namespace attn {

enum class TooLong { cut, drop };  // truncate the sentence, or drop the pair

struct ShardOptions {
  Index pairs = 1 << 17;  // read per shard
  Index longest = 1023;   // tokens per sentence; a batch adds one
  TooLong too_long = TooLong::cut;
  Index threads = all_threads();  // does not affect the result
};

/// The result of make_shards.
struct MadeShards {
  std::vector<std::filesystem::path> files;
  Index made = 0;  // shards written; the others existed
  Index pairs = 0, tokens = 0;
  Index source_cut = 0, target_cut = 0, too_long = 0;
  LengthStatistics source, target;  // of all sentences, before truncating and dropping
};

namespace detail {

/// The encoded pairs of a block, and their header counts.
struct EncodedPairs {
  ShardPairs pairs;
  ShardHeader counts;

  void add(const EncodedPairs& other) {
    const auto before = static_cast<std::uint32_t>(pairs.tokens.size());
    require(other.pairs.tokens.size() <= std::numeric_limits<std::uint32_t>::max() - before,
            "a shard has too many tokens. Use fewer pairs per shard.");
    pairs.tokens.insert(pairs.tokens.end(), other.pairs.tokens.begin(), other.pairs.tokens.end());
    for (std::size_t i = 1; i < other.pairs.begins.size(); ++i) pairs.begins.push_back(before + other.pairs.begins[i]);
    counts.source_cut += other.counts.source_cut;
    counts.target_cut += other.counts.target_cut;
    counts.too_long += other.counts.too_long;
    counts.source.add(other.counts.source);
    counts.target.add(other.counts.target);
  }
};

EncodedPairs encode_pairs(const ParallelText& text, std::size_t first, std::size_t last, const EncodesText auto& source,
                          const EncodesText auto& target, const ShardOptions& options) {
  EncodedPairs encoded;
  ShardHeader& counts = encoded.counts;
  std::vector<Token> from, to;
  const auto longest = static_cast<std::size_t>(options.longest);
  for (std::size_t i = first; i < last; ++i) {
    from.clear(), to.clear();
    source.encode(text.source[i], from);
    target.encode(text.target[i], to);
    counts.source.add(std::ssize(from));
    counts.target.add(std::ssize(to));
    if (options.too_long == TooLong::drop && std::max(from.size(), to.size()) > longest) {
      ++counts.too_long;
      continue;
    }
    if (from.size() > longest) from.resize(longest), ++counts.source_cut;
    if (to.size() > longest) to.resize(longest), ++counts.target_cut;
    encoded.pairs.add(from, to);
  }
  return encoded;
}

/// A hash of everything that determines a shard's contents, except the tokenizers.
inline std::uint64_t hash_of_block(const ParallelText& text, const ShardOptions& options) {
  Checksum sum;
  for (const auto* side : {&text.source, &text.target})
    for (const std::string& line : *side) {
      const auto length = static_cast<Index>(line.size());
      sum.add(&length, sizeof length);
      sum.add(line.data(), length);
    }
  const Index rule[] = {options.longest, options.too_long == TooLong::cut ? 0 : 1};
  sum.add(rule, sizeof rule);
  return sum.value();
}

}  // namespace detail

/// 00000.shard, 00001.shard, ...
inline std::string shard_name(std::size_t number) { return detail::formatted("%05zu.shard", number); }

/// Tokenizes a text into FOLDER/00000.shard and so on. Keeps an existing shard if it comes from the same text, rules and
/// tokenizers, so you can interrupt and repeat the command. Calls `report(made so far)` after each shard; return false to
/// stop.
MadeShards make_shards(PairStream& text, const Tokenizer auto& source, const Tokenizer auto& target,
                       const std::filesystem::path& folder, const ShardOptions& options,
                       const std::function<bool(const MadeShards&)>& report = {}) {
  require(options.pairs >= 1, "make_shards: pairs is ", options.pairs, ", but must be at least 1");
  require(options.longest >= 1, "make_shards: longest is ", options.longest, ", but must be at least 1");
  MadeShards made;
  const auto read = [&] { return text.next(options.pairs); };
  for (ParallelText block = read(); !block.source.empty();) {
    auto next = std::async(std::launch::async, read);  // while this block is encoded
    ShardHeader header;
    header.number = made.files.size();
    header.made_of = detail::hash_of_block(block, options);
    header.source_tokenizer = source.hash(), header.target_tokenizer = target.hash();
    header.source_vocabulary = static_cast<std::uint64_t>(source.size());
    header.target_vocabulary = static_cast<std::uint64_t>(target.size());
    const std::filesystem::path path = folder / shard_name(header.number);

    std::optional<ShardHeader> there = read_shard_header(path);
    if (there && (there->made_of != header.made_of || there->source_tokenizer != header.source_tokenizer ||
                  there->target_tokenizer != header.target_tokenizer))
      there.reset();
    if (!there) {
      constexpr std::size_t kPart = 1024;
      const std::size_t pairs = block.source.size();
      std::vector<detail::EncodedPairs> parts((pairs + kPart - 1) / kPart);
      parallel_for(std::ssize(parts), options.threads, [&](Index i) {
        const std::size_t first = static_cast<std::size_t>(i) * kPart;
        parts[static_cast<std::size_t>(i)] =
            detail::encode_pairs(block, first, std::min(first + kPart, pairs), source, target, options);
      });
      detail::EncodedPairs all{{}, header};
      for (detail::EncodedPairs& part : parts) {
        all.add(part);
        part = {};
      }
      there = write_shard(path, all.counts, all.pairs);
      ++made.made;
    }
    made.files.push_back(path);
    made.pairs += static_cast<Index>(there->pairs);
    made.tokens += static_cast<Index>(there->tokens);
    made.source_cut += static_cast<Index>(there->source_cut);
    made.target_cut += static_cast<Index>(there->target_cut);
    made.too_long += static_cast<Index>(there->too_long);
    made.source.add(there->source);
    made.target.add(there->target);
    block = next.get();
    if (report && !report(made)) break;
  }
  return made;
}

}  // namespace attn
