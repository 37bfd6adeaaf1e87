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

/// Encodes the pairs of a block, and counts them in its header.
ShardPairs encode_pairs(const ParallelText& text, const EncodesText auto& source, const EncodesText auto& target,
                        const ShardOptions& options, ShardHeader& header) {
  const Sentences sources = encode_lines(text.source, source, keep_all_tokens, options.threads);
  const Sentences targets = encode_lines(text.target, target, keep_all_tokens, options.threads);
  const auto longest = static_cast<std::size_t>(options.longest);
  ShardPairs pairs;
  for (Index i = 0; i < sources.size(); ++i) {
    auto from = sources[i], to = targets[i];
    header.source.add(std::ssize(from));
    header.target.add(std::ssize(to));
    if (options.too_long == TooLong::drop && std::max(from.size(), to.size()) > longest) {
      ++header.too_long;
      continue;
    }
    if (from.size() > longest) from = from.first(longest), ++header.source_cut;
    if (to.size() > longest) to = to.first(longest), ++header.target_cut;
    pairs.add(from, to);
  }
  return pairs;
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
      const ShardPairs pairs = detail::encode_pairs(block, source, target, options, header);
      there = write_shard(path, header, pairs);
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
