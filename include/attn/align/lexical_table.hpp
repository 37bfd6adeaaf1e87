#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Sparse table of t(target word | source word), for pairs that co-occur in some sentence pair. Source words are ids below
/// source_words(). One further row is the empty word, the source of target words without a counterpart.
class LexicalTable {
 public:
  /// The translations of a source word, sorted by id: targets[i] has probabilities[i].
  struct Row {
    std::span<const Token> targets;
    std::span<const float> probabilities;
  };

  LexicalTable() = default;
  /// Compressed rows: row s is entries offsets[s] to offsets[s + 1] of both vectors. The last row is the empty word.
  LexicalTable(std::vector<Index> offsets, std::vector<Token> targets, std::vector<float> probabilities)
      : offsets_(std::move(offsets)), targets_(std::move(targets)), probabilities_(std::move(probabilities)) {
    require(offsets_.size() > 1 && offsets_.front() == 0 && std::ranges::is_sorted(offsets_) &&
                offsets_.back() == std::ssize(targets_) && targets_.size() == probabilities_.size(),
            "lexical table: the offsets must rise from 0 to the numbers of targets, ", targets_.size(),
            ", and of probabilities, ", probabilities_.size());
    for (Index s = 0; s + 1 < std::ssize(offsets_); ++s) {
      const Row row = at(s);
      const bool rising = std::ranges::adjacent_find(row.targets, std::greater_equal<>{}) == row.targets.end();
      const bool valid = std::ranges::all_of(row.probabilities, [](float p) { return p >= 0 && p <= 1; });
      require(rising && valid && (row.targets.empty() || row.targets[0] >= 0), "lexical table: row ", s,
              " needs rising ids of at least 0 and probabilities from 0 to 1");
    }
  }

  Index source_words() const { return std::max<Index>(0, std::ssize(offsets_) - 2); }
  Token empty_word() const { return static_cast<Token>(source_words()); }
  Index entries() const { return std::ssize(targets_); }

  /// The row of a source word, empty for words outside the table.
  Row operator[](Token source) const { return source >= 0 && source + 1 < std::ssize(offsets_) ? at(source) : Row{}; }

  /// t(target | source), or 0 if the pair is not in the table.
  double probability(Token source, Token target) const {
    const Row row = (*this)[source];
    const auto found = std::ranges::lower_bound(row.targets, target);
    if (found == row.targets.end() || *found != target) return 0;
    return row.probabilities[static_cast<std::size_t>(found - row.targets.begin())];
  }

  /// The `count` most probable translations of a source word, in descending order. Ties take the lower id.
  std::vector<Token> best(Token source, Index count) const {
    const Row row = (*this)[source];
    std::vector<std::size_t> order(row.targets.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto kept = order.begin() + std::clamp<Index>(count, 0, std::ssize(order));
    std::ranges::partial_sort(order, kept, [&](std::size_t a, std::size_t b) {
      return std::pair(-row.probabilities[a], a) < std::pair(-row.probabilities[b], b);
    });
    std::vector<Token> targets;
    for (auto at = order.begin(); at != kept; ++at) targets.push_back(row.targets[*at]);
    return targets;
  }

  /// A copy without the pairs below a probability. Does not renormalise.
  LexicalTable pruned(double below) const {
    std::vector<Index> offsets{0};
    std::vector<Token> targets;
    std::vector<float> probabilities;
    for (Index s = 0; s + 1 < std::ssize(offsets_); ++s) {
      const Row row = at(s);
      for (std::size_t i = 0; i < row.targets.size(); ++i)
        if (static_cast<double>(row.probabilities[i]) >= below)
          targets.push_back(row.targets[i]), probabilities.push_back(row.probabilities[i]);
      offsets.push_back(std::ssize(targets));
    }
    return {std::move(offsets), std::move(targets), std::move(probabilities)};
  }

  const std::vector<Index>& offsets() const { return offsets_; }
  const std::vector<Token>& targets() const { return targets_; }
  const std::vector<float>& probabilities() const { return probabilities_; }
  bool operator==(const LexicalTable&) const = default;

 private:
  Row at(Index s) const {
    const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(s)]);
    const auto size = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(s) + 1]) - begin;
    return {std::span(targets_).subspan(begin, size), std::span(probabilities_).subspan(begin, size)};
  }

  std::vector<Index> offsets_{0, 0};
  std::vector<Token> targets_;
  std::vector<float> probabilities_;
};

}  // namespace attn
