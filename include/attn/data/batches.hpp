#pragma once
#include <numeric>

#include "attn/core/batch.hpp"
#include "attn/core/random.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/text/tokenizer.hpp"

namespace attn {

/// The special tokens of the two tokenizers.
template <HasSpecialTokens SourceTokenizer, HasSpecialTokens TargetTokenizer>
SpecialTokens special_tokens_of(const SourceTokenizer& source, const TargetTokenizer& target) {
  return {target.begin(), target.end(), source.end(), source.unknown(), target.unknown()};
}

enum class BatchUnit { sentences, tokens };
enum class BatchOrder { sequential, shuffled, pooled };

struct BatchOptions {
  Index size = 88;                          // maximum per batch, in units
  BatchUnit unit = BatchUnit::sentences;    // tokens: rows of source and target_input together
  BatchOrder order = BatchOrder::shuffled;  // pooled: batches of similar lengths, in random order
  Index pool = 100;                         // pooled: number of batches whose random sentences are sorted together
  std::uint64_t seed = 1;
  double mask_rate = 0;  // probability that an input token is replaced by the unknown token (word dropout)
};

/// The size of one batch.
struct BatchSize {
  Index sentences = 0;
  Index labels = 0;  // target tokens to predict
  Index tokens = 0;  // source and target

  BatchSize& operator+=(const BatchSize& other) {
    sentences += other.sentences, labels += other.labels, tokens += other.tokens;
    return *this;
  }
  bool operator==(const BatchSize&) const = default;
};

/// Splits a corpus into batches, epoch by epoch. The order depends only on (seed, epoch), so a run can resume in the middle
/// of an epoch. The corpus must outlive its batches.
///
///     Batches batches(corpus, special_tokens_of(tokenizer, tokenizer), {.size = 4096, .unit = BatchUnit::tokens});
///     for (Index epoch = 0; epoch < 10; ++epoch)
///       for (batches.start_epoch(epoch); batches.next(batch);) train(batch);
class Batches {
 public:
  struct Position {
    Index epoch = 0, batch = 0;
    bool operator==(const Position&) const = default;
  };

  Batches(CorpusView corpus, SpecialTokens special_tokens, BatchOptions options)
      : corpus_(corpus), special_tokens_(special_tokens), options_(options) {
    require(corpus.size() > 0, "Batches: the corpus has no sentences");
    require(corpus.size() <= Index{std::numeric_limits<Place>::max()}, "Batches: ", corpus.size(), " pairs are more than ",
            std::numeric_limits<Place>::max(), "; train on parts of the corpus");
    constexpr Index most = std::numeric_limits<std::int32_t>::max();  // so that size * pool cannot overflow
    require(options.size >= 1 && options.size <= most, "Batches: size is ", options.size, ", but must be 1 to ", most);
    require(options.pool >= 1 && options.pool <= most, "Batches: pool is ", options.pool, ", but must be 1 to ", most);
    require(options.mask_rate >= 0 && options.mask_rate < 1, "Batches: mask_rate is ", options.mask_rate,
            ", but must be at least 0 and below 1");
    const auto& [begin, end, source_end, source_unknown, target_unknown] = special_tokens;
    require(options.mask_rate == 0 ||
                (source_unknown >= 0 && source_unknown != source_end && target_unknown >= 0 && target_unknown != end),
            "Batches: mask_rate is ", options.mask_rate,
            ", but a vocabulary has no unknown token of its own. Use one with <unk>, or no masks (omit --mask-tokens).");
    reserve();
    start_epoch(0);
  }
  Batches(const ParallelCorpus& corpus, SpecialTokens special_tokens, BatchOptions options)
      : Batches(paired(corpus), special_tokens, options) {}
  Batches(ParallelCorpus&&, SpecialTokens, BatchOptions) = delete;  // would dangle

  void start_epoch(Index epoch) { seek({epoch, 0}); }

  /// Fills the next batch of the epoch, or returns false at its end. Reuses the batch's memory; only the first use
  /// allocates.
  bool next(Batch& batch) {
    if (position_.batch == batches_per_epoch()) return false;
    for (Sentences* side : {&batch.source, &batch.target_input, &batch.target_output}) {
      side->tokens.reserve(side == &batch.source ? most_source_ : most_target_);
      side->offsets.reserve(most_sentences_ + 1);
    }
    batch.sentence_ids.reserve(most_sentences_);
    batch.clear();

    const auto [first, last] = batches_[static_cast<std::size_t>(position_.batch)];
    for (Index i = first; i < last; ++i) {
      const Index id = order_[static_cast<std::size_t>(i)];
      batch.add(corpus_.source_tokens(id, source_space_), corpus_.target_tokens(id, target_space_), special_tokens_);
      if (options_.mask_rate > 0) mask_last(batch, id);
      batch.sentence_ids.push_back(corpus_.first() + id);
    }
    ++position_.batch;
    return true;
  }

  /// The size of the next batch, zero at the end of the epoch. Reads no tokens.
  BatchSize next_size() const {
    BatchSize size;
    if (position_.batch == batches_per_epoch()) return size;
    const auto [first, last] = batches_[static_cast<std::size_t>(position_.batch)];
    for (Index i = first; i < last; ++i) {
      const Index id = order_[static_cast<std::size_t>(i)];
      size += {1, target_rows(id), rows(id)};
    }
    return size;
  }
  /// Skips the next batch of the epoch.
  void skip() { position_.batch = std::min(position_.batch + 1, batches_per_epoch()); }

  /// The position of the next batch. Pass it to seek() to resume from there.
  Position position() const { return position_; }
  void seek(Position position) {
    require(position.epoch >= 0, "Batches: there is no epoch ", position.epoch, "; epochs count from 0");
    if (position.epoch != position_.epoch) arrange(position.epoch);
    position_ = {position.epoch, 0};
    require(position.batch >= 0 && position.batch <= batches_per_epoch(), "Batches: cannot resume at batch ",
            position.batch, ": epoch ", position.epoch, " has ", batches_per_epoch(),
            " batches. Use the corpus and the batch options of the run that you resume.");
    position_ = position;
  }

  /// The number of batches in the current epoch. With BatchUnit::tokens and a random order it can vary slightly between
  /// epochs.
  Index batches_per_epoch() const { return static_cast<Index>(batches_.size()); }

  /// The batches that need most memory in `epochs` epochs from `first` on: the one with most rows (source plus target) and,
  /// if another has more sentences, that one too.
  std::vector<Batch> largest(Index first, Index epochs) const {
    BatchSize longest, fullest;
    Position longest_at, fullest_at;
    Batches dealt = *this;
    for (Index epoch = first; epoch < first + epochs; ++epoch)
      for (dealt.start_epoch(epoch); dealt.position_.batch < dealt.batches_per_epoch(); dealt.skip()) {
        const BatchSize size = dealt.next_size();
        if (size.tokens > longest.tokens) longest = size, longest_at = dealt.position_;
        if (size.sentences > fullest.sentences) fullest = size, fullest_at = dealt.position_;
      }
    std::vector<Batch> found(fullest.sentences > longest.sentences ? 2 : 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      dealt.seek(i == 0 ? longest_at : fullest_at);
      dealt.next(found[i]);
    }
    return found;
  }

 private:
  using Range = std::pair<Index, Index>;  // [first, last) in order_
  using Place = std::uint32_t;            // index of a pair in the corpus; 32 bits, since large corpora store many

  static CorpusView paired(const ParallelCorpus& corpus) {
    require(corpus.source.size() == corpus.target.size(), "Batches: ", corpus.source.size(), " source sentences, but ",
            corpus.target.size(), " target sentences. Pass one target per source.");
    return corpus;
  }
  Index source_rows(Index id) const { return corpus_.source_length(id) + (special_tokens_.source_end ? 1 : 0); }
  Index target_rows(Index id) const { return corpus_.target_length(id) + 1; }
  Index rows(Index id) const { return source_rows(id) + target_rows(id); }
  /// Masks tokens of the last pair (Gal and Ghahramani 2016), but no special tokens and no labels. The random numbers
  /// depend only on seed, epoch and `id`, so a resumed run repeats them.
  void mask_last(Batch& batch, Index id) const {
    Random random(options_.seed, static_cast<std::uint64_t>(position_.epoch + 1) << 32 | static_cast<std::uint64_t>(id));
    const auto mask = [&](Sentences& side, Token unknown, std::optional<Token> begin, std::optional<Token> end) {
      for (Token& token : std::span(side.tokens).last(static_cast<std::size_t>(side.length(side.size() - 1))))
        if (random.uniform() < options_.mask_rate && token != begin && token != end) token = unknown;
    };
    mask(batch.source, special_tokens_.source_unknown, {}, special_tokens_.source_end);
    mask(batch.target_input, special_tokens_.target_unknown, special_tokens_.begin, special_tokens_.end);
  }
  void arrange(Index epoch) {
    Random random(options_.seed, static_cast<std::uint64_t>(epoch));
    order_.resize(static_cast<std::size_t>(corpus_.size()));
    std::iota(order_.begin(), order_.end(), Place{0});
    batches_.clear();
    if (options_.order != BatchOrder::sequential) random.shuffle(order_);
    const bool sentences = options_.unit == BatchUnit::sentences;
    if (options_.order != BatchOrder::pooled) {
      cut({0, corpus_.size()}, options_.size, batches_,
          [&](Index i) { return sentences ? 1 : rows(order_[static_cast<std::size_t>(i)]); });
      return;
    }

    struct Sorted {
      std::uint32_t source, target;  // rows
      Place id;
    };
    std::vector<Sorted> pool;  // caches lengths: on a large corpus, lookups dominate
    Index first = 0, filled = 0;
    const auto cost = [&](const Sorted& pair) { return sentences ? Index{1} : Index{pair.source} + Index{pair.target}; };
    const auto sort_pool = [&] {
      // Stable, so that sentences of equal length keep their random order, on every machine.
      std::stable_sort(pool.begin(), pool.end(), [](const Sorted& a, const Sorted& b) {
        return a.source != b.source ? a.source < b.source : a.target < b.target;
      });
      for (std::size_t i = 0; i < pool.size(); ++i) order_[static_cast<std::size_t>(first) + i] = pool[i].id;
      cut({first, first + std::ssize(pool)}, options_.size, batches_,
          [&](Index i) { return cost(pool[static_cast<std::size_t>(i - first)]); });
      first += std::ssize(pool);
      filled = 0;
      pool.clear();
    };
    for (Index i = 0; i < corpus_.size(); ++i) {
      const Place id = order_[static_cast<std::size_t>(i)];
      const Sorted pair{static_cast<std::uint32_t>(source_rows(id)), static_cast<std::uint32_t>(target_rows(id)), id};
      if (!pool.empty() && filled + cost(pair) > options_.size * options_.pool) sort_pool();
      pool.push_back(pair);
      filled += cost(pair);
    }
    sort_pool();
    random.shuffle(batches_);
  }
  /// Cuts a range of order_ into pieces of at most `limit` units. An item above the limit becomes its own piece. cost(i) is
  /// the size of item i.
  template <class Cost>
  static void cut(Range range, Index limit, std::vector<Range>& pieces, const Cost& cost) {
    Index first = range.first, filled = 0;
    for (Index i = range.first; i < range.second; ++i) {
      const Index units = cost(i);
      if (i > first && filled + units > limit) {
        pieces.emplace_back(first, i);
        first = i, filled = 0;
      }
      filled += units;
    }
    if (first < range.second) pieces.emplace_back(first, range.second);
  }
  /// Computes bounds for every batch of every epoch, so that next() allocates only once.
  void reserve() {
    Index source = 0, target = 0, longest_source = 0, longest_target = 0, longest = 0;
    for (Index id = 0; id < corpus_.size(); ++id) {
      source += source_rows(id), target += target_rows(id);
      longest_source = std::max(longest_source, source_rows(id)),
      longest_target = std::max(longest_target, target_rows(id));
      longest = std::max(longest, rows(id));
    }
    const bool sentences = options_.unit == BatchUnit::sentences;
    const Index most = std::max(std::min(options_.size, source + target), longest);  // tokens of a batch
    const Index count = sentences ? std::min(options_.size, corpus_.size()) : most;  // a pair has at least one row
    most_sentences_ = static_cast<std::size_t>(count);
    most_source_ = static_cast<std::size_t>(sentences ? std::min(source, count * longest_source) : most);
    most_target_ = static_cast<std::size_t>(sentences ? std::min(target, count * longest_target) : most);
  }

  CorpusView corpus_;
  SpecialTokens special_tokens_;
  BatchOptions options_;
  std::vector<Place> order_;    // sentences in epoch order
  std::vector<Range> batches_;  // the range of order_ for each batch
  Position position_{-1, 0};
  std::vector<Token> source_space_, target_space_;                      // for tokens that the corpus cannot return in place
  std::size_t most_sentences_ = 0, most_source_ = 0, most_target_ = 0;  // upper bounds over all epochs
};

}  // namespace attn
