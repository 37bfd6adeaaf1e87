#pragma once
#include <numeric>
#include <queue>
#include <tuple>

#include "attn/core/thread_pool.hpp"
#include "attn/text/byte_bpe.hpp"

namespace attn {

/// Learns a byte-level BPE (Sennrich et al. 2016): repeatedly merges the most frequent pair of neighbouring tokens. Add
/// lines of one language, or of both for a joint vocabulary. Stores word counts, not the text.
///     BpeTrainer trainer;
///     for (const std::string& line : lines) trainer.add(line);
///     const ByteBpe bpe = trainer.train(32000);
class BpeTrainer {
 public:
  void add(std::string_view line) {
    utf8::require_valid(line);
    for_each_word(line, [this](std::string_view word) { ++counts_[word]; });
  }
  void add(const BpeTrainer& other) {
    for (const auto& [word, times] : other.counts_) counts_[word] += times;
  }

  /// Trains a vocabulary of <s> <pad> </s> <unk>, the 256 bytes, then merges up to the given size. Stops early when no pair
  /// occurs twice. Among equally frequent pairs the one with lower ids wins, so the result is the same on every machine.
  ByteBpe train(Index vocabulary_size) const;

 private:
  detail::StringMap<Index> counts_;
};

/// Counts the words of many lines in parallel.
inline void add_lines(BpeTrainer& trainer, std::span<const std::string> lines, Index threads = all_threads()) {
  constexpr std::size_t kFewest = 20'000;  // lines per thread, below which a thread does not pay off
  const std::size_t parts = std::clamp<std::size_t>(lines.size() / kFewest, 1, static_cast<std::size_t>(threads));
  std::vector<BpeTrainer> counted(parts);
  parallel_for(std::ssize(counted), threads, [&](Index part) {
    const auto at = static_cast<std::size_t>(part), first = lines.size() * at / parts;
    for (const std::string& line : lines.subspan(first, lines.size() * (at + 1) / parts - first)) counted[at].add(line);
  });
  for (const BpeTrainer& part : counted) trainer.add(part);
}

/// Trains a byte-level BPE on texts, each a list of lines. Pass one language, or both for a joint vocabulary.
template <class... Texts>
ByteBpe learn_byte_bpe(Index vocabulary_size, const Texts&... texts) {
  BpeTrainer trainer;
  (add_lines(trainer, texts), ...);
  return trainer.train(vocabulary_size);
}

namespace detail {

/// Words as tokens, with the count of each pair of neighbouring tokens and the words it occurs in. A merge then visits only
/// the words it changes.
class PairCounts {
 public:
  struct Pair {
    Token left, right;
    Index count;
    /// Order in the priority queue: the most frequent first, ties by lowest ids.
    bool operator<(const Pair& other) const {
      return std::tuple(count, other.left, other.right) < std::tuple(other.count, left, right);
    }
  };

  void add_word(std::vector<Token> tokens, Index count) {
    const auto index = static_cast<std::uint32_t>(words_.size());
    words_.push_back({std::move(tokens), count});
    const auto& word = words_.back().tokens;
    for (std::size_t i = 1; i < word.size(); ++i) gain(word[i - 1], word[i], index);
  }

  /// The most frequent pair, or one with a count of 0 if no pair is left.
  Pair most_frequent() {
    std::sort(gained_.begin(), gained_.end());
    gained_.erase(std::unique(gained_.begin(), gained_.end()), gained_.end());
    for (const std::uint64_t key : gained_)
      queue_.push({static_cast<Token>(key >> 32), static_cast<Token>(key), pairs_[key].count});
    gained_.clear();

    while (!queue_.empty()) {
      Pair best = queue_.top();
      const auto found = pairs_.find(pair_key(best.left, best.right));
      const Index count = found == pairs_.end() ? 0 : found->second.count;
      if (count == best.count) return best;
      queue_.pop();
      best.count = count;
      if (count > 0) queue_.push(best);
    }
    return {};
  }

  void merge(const Pair& pair, Token result) {
    const auto [left, right, count] = pair;
    const std::vector<std::uint32_t> affected = std::move(pairs_[pair_key(left, right)].words);
    for (const std::uint32_t index : affected) {
      auto& word = words_[index].tokens;
      std::size_t kept = 0;
      for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != left || i + 1 == word.size() || word[i + 1] != right) {
          word[kept++] = word[i];
          continue;
        }
        if (kept > 0) {
          lose(word[kept - 1], left, index);
          gain(word[kept - 1], result, index);
        }
        if (i + 2 < word.size()) {
          lose(right, word[i + 2], index);
          gain(result, word[i + 2], index);
        }
        word[kept++] = result;
        ++i;
      }
      word.resize(kept);
    }
    pairs_.erase(pair_key(left, right));
  }

 private:
  struct Word {
    std::vector<Token> tokens;
    Index count;
  };
  struct Occurrences {
    Index count = 0;
    std::vector<std::uint32_t> words;  // may include words that no longer contain the pair
  };

  void gain(Token left, Token right, std::uint32_t word) {
    Occurrences& pair = pairs_[pair_key(left, right)];
    pair.count += words_[word].count;
    if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
    gained_.push_back(pair_key(left, right));
  }
  void lose(Token left, Token right, std::uint32_t word) { pairs_[pair_key(left, right)].count -= words_[word].count; }

  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, Occurrences> pairs_;
  std::vector<std::uint64_t> gained_;  // pairs whose count has grown since most_frequent() last ran
  std::priority_queue<Pair> queue_;    // counts are upper bounds: most_frequent() corrects stale ones
};

}  // namespace detail

inline ByteBpe BpeTrainer::train(Index vocabulary_size) const {
  std::vector<std::string> tokens{"<s>", "<pad>", "</s>", "<unk>"};

  // Byte order of Hugging Face's trainer: by code point of the byte's letter.
  std::array<std::size_t, 256> bytes;
  std::iota(bytes.begin(), bytes.end(), std::size_t{0});
  std::ranges::sort(bytes, {}, [](std::size_t byte) { return byte_alphabet::letters[byte]; });
  std::array<Token, 256> token_of_byte;
  for (const std::size_t byte : bytes) {
    token_of_byte[byte] = static_cast<Token>(tokens.size());
    tokens.push_back(byte_alphabet::written(std::string(1, static_cast<char>(byte))));
  }
  require(vocabulary_size >= static_cast<Index>(tokens.size()), "BPE training: a vocabulary of ", vocabulary_size,
          " is too small: special tokens and bytes alone are ", tokens.size());

  detail::PairCounts pairs;
  for (const auto& [word, count] : counts_) {
    std::vector<Token> letters;
    for (const char byte : word) letters.push_back(token_of_byte[static_cast<unsigned char>(byte)]);
    pairs.add_word(std::move(letters), count);
  }

  // No two merges produce the same string: bytes between two surviving boundaries are merged the same way everywhere.
  std::vector<Merge> merges;
  while (static_cast<Index>(tokens.size()) < vocabulary_size) {
    const auto pair = pairs.most_frequent();
    if (pair.count < 2) break;
    const auto result = static_cast<Token>(tokens.size());
    tokens.push_back(tokens[static_cast<std::size_t>(pair.left)] + tokens[static_cast<std::size_t>(pair.right)]);
    merges.push_back({pair.left, pair.right, result});
    pairs.merge(pair, result);
  }
  return ByteBpe(std::move(tokens), std::move(merges));
}

}  // namespace attn
