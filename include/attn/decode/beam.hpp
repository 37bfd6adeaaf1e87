#pragma once
#include "attn/decode/decoding_steps.hpp"
#include "attn/decode/repetition.hpp"
#include "attn/decode/search_options.hpp"

namespace attn {

/// The hypotheses of one sentence in a beam search. decode/search.hpp defines the rules.
class Beam {
 public:
  Beam(const SearchOptions& options, std::span<const Token> prefix, SearchTree* tree)
      : options_(options), prefix_(prefix), tree_(tree) {
    if (tree_ != nullptr) tree_->nodes = {{-1, options.begin, 0, SearchTree::Fate::live}};
  }

  bool over() const { return live_.empty(); }
  Index rows() const { return static_cast<Index>(live_.size()); }
  Token newest(Index row) const { return node(row).token; }
  double total(Index row) const { return node(row).total; }  // log-probability of the hypothesis
  /// The row, before the last step, that this row continues.
  Index continues(Index row) const { return live_[static_cast<std::size_t>(row)].row; }

  /// The token that every row must take next, or -1.
  Token forced() const {
    return length_ < static_cast<Index>(prefix_.size()) ? prefix_[static_cast<std::size_t>(length_)] : -1;
  }

  /// Tokens forbidden for this row only.
  std::vector<Token> blocked(Index row) const {
    if (options_.no_repeat == 0 || forced() >= 0) return {};
    return repeating_tokens(path(live_[static_cast<std::size_t>(row)].node, &Node::token), options_.no_repeat);
  }

  /// Advances one step. `choices` holds this sentence's rows from `first` on; `blocked` lists forbidden tokens per row.
  void step(const Choices& choices, Index first, std::span<const std::vector<Token>> blocked) {
    const auto beam = static_cast<std::size_t>(options_.beam);
    const bool must = forced() >= 0;
    candidates_.clear();
    for (Index row = 0; row < rows(); ++row) {
      const auto& taboo = blocked[static_cast<std::size_t>(row)];
      std::size_t of_row = 0;
      for (Index j = 0; j < choices.k && of_row <= beam; ++j) {
        const auto at = static_cast<std::size_t>((first + row) * choices.k + j);
        const Token token = choices.tokens[at];
        const double log_probability = choices.log_probabilities[at];
        if (token < 0 || (!must && !(log_probability > -HUGE_VAL))) break;  // no possible choice is left
        if (std::ranges::find(taboo, token) != taboo.end()) continue;
        Candidate candidate{node(row).total + log_probability, log_probability, token, row, 0};
        if (tree_ != nullptr && of_row < beam) {
          candidate.drawn = static_cast<Index>(tree_->nodes.size());
          tree_->nodes.push_back({node(row).drawn, token, candidate.total, SearchTree::Fate::dropped});
        }
        candidates_.push_back(candidate);
        ++of_row;
      }
    }
    if (candidates_.empty()) return finish();  // no live hypothesis can continue
    // Ties go to the continuation of the higher-ranked hypothesis, then to the lower token.
    std::ranges::stable_sort(candidates_, std::greater<>(), &Candidate::total);
    ++length_;
    const std::vector<Live> before = live_;
    live_.clear();
    for (std::size_t rank = 0; rank < candidates_.size() && live_.size() < beam; ++rank) {
      const Candidate& candidate = candidates_[rank];
      const bool ends = candidate.token == options_.end && !must;
      if (ends && rank >= beam) continue;  // not among the k best
      nodes_.push_back({before[static_cast<std::size_t>(candidate.row)].node, candidate.token, candidate.log_probability,
                        candidate.total, candidate.drawn});
      const auto at = static_cast<Index>(nodes_.size()) - 1;
      if (ends)
        set_aside(at, true);
      else
        live_.push_back({at, candidate.row});
      if (!ends && tree_ != nullptr && candidate.drawn > 0)
        tree_->nodes[static_cast<std::size_t>(candidate.drawn)].fate = SearchTree::Fate::live;
    }
    if (nothing_better()) live_.clear();
  }

  /// At the limit, live hypotheses count as complete.
  void finish() {
    for (const Live& live : live_) set_aside(live.node, false);
    live_.clear();
  }

  /// The best complete hypotheses; ties go to the one found first.
  std::vector<Hypothesis> best() {
    std::vector<Complete> order = complete_;
    std::ranges::stable_sort(order, std::greater<>(), &Complete::score);
    if (static_cast<Index>(order.size()) > options_.n_best) order.resize(static_cast<std::size_t>(options_.n_best));
    std::vector<Hypothesis> result;
    for (const Complete& one : order) {
      result.push_back(
          {path(one.node, &Node::token), at(one.node).total, one.score, path(one.node, &Node::log_probability), one.ended});
      if (one.ended) result.back().tokens.pop_back();
    }
    for (Index i = order[0].node; tree_ != nullptr && i > 0; i = at(i).parent) drawn(i).best = true;
    return result;
  }

 private:
  struct Node {
    Index parent = -1;
    Token token = -1;
    double log_probability = 0, total = 0;
    Index drawn = 0;  // index in the tree
  };
  struct Live {
    Index node, row;
  };
  struct Complete {
    Index node;
    double score;
    bool ended;
  };
  struct Candidate {
    double total, log_probability;
    Token token;
    Index row, drawn;
  };

  const Node& at(Index i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const Node& node(Index row) const { return at(live_[static_cast<std::size_t>(row)].node); }
  SearchTree::Node& drawn(Index i) { return tree_->nodes[static_cast<std::size_t>(at(i).drawn)]; }
  /// A member of each node from the first token to node i.
  template <class T>
  std::vector<T> path(Index i, T Node::*member) const {
    std::vector<T> found;
    for (; i > 0; i = at(i).parent) found.push_back(at(i).*member);
    std::ranges::reverse(found);
    return found;
  }
  /// The scored length includes the end token if it was produced.
  void set_aside(Index i, bool ended) {
    complete_.push_back({i, options_.score(at(i).total, options_.scored_length(length_, ended)), ended});
    if (tree_ != nullptr) drawn(i).fate = ended ? SearchTree::Fate::complete : SearchTree::Fate::limit;
  }
  bool nothing_better() const {
    const auto wanted = static_cast<std::size_t>(options_.complete_or_beam());
    if (complete_.size() < wanted || live_.empty()) return false;
    if (options_.stop == Stop::complete) return true;
    std::vector<double> scores;
    for (const Complete& one : complete_) scores.push_back(one.score);
    std::ranges::nth_element(scores, scores.begin() + static_cast<std::ptrdiff_t>(wanted) - 1, std::greater<>());
    const double last = scores[wanted - 1], total = node(0).total;  // row 0 is the most probable
    const double now = options_.score(total, length_);
    if (options_.stop == Stop::no_better_now) return now <= last;
    const Index longest = options_.scored_length(options_.limit, false);
    return std::max({now, options_.score(total, length_ + 1), options_.score(total, longest)}) <= last;
  }

  const SearchOptions& options_;
  std::span<const Token> prefix_;
  SearchTree* tree_;
  Index length_ = 0;
  std::vector<Node> nodes_{{}};  // the root
  std::vector<Live> live_{{0, 0}};
  std::vector<Complete> complete_;
  std::vector<Candidate> candidates_;
};

/// One beam per sentence; records search trees if `trees` is given.
inline std::vector<Beam> begin_beams(std::size_t sentences, const SearchOptions& options, std::vector<SearchTree>* trees) {
  if (trees != nullptr) trees->assign(sentences, {});
  std::vector<Beam> beams;
  beams.reserve(sentences);
  for (std::size_t i = 0; i < sentences; ++i)
    beams.emplace_back(options, options.prefixes.empty() ? std::span<const Token>{} : options.prefixes[i],
                       trees != nullptr ? &(*trees)[i] : nullptr);
  return beams;
}

/// Ends all beams at the limit and returns the best hypotheses of each.
inline Hypotheses finish_beams(std::vector<Beam>& beams) {
  Hypotheses results;
  for (Beam& beam : beams) {
    beam.finish();
    results.push_back(beam.best());
  }
  return results;
}

}  // namespace attn
