#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Sentence pairs as token ids, without special tokens. Lengths should come from an index, because they are read far more
/// often than tokens. Tokens are returned in place or written to `space`.
template <class T>
concept TokenPairs = requires(const T& pairs, Index i, std::vector<Token>& space) {
  { pairs.size() } -> std::same_as<Index>;
  { pairs.source_length(i) } -> std::same_as<Index>;
  { pairs.target_length(i) } -> std::same_as<Index>;
  { pairs.source_tokens(i, space) } -> std::same_as<std::span<const Token>>;
  { pairs.target_tokens(i, space) } -> std::same_as<std::span<const Token>>;
};

/// Type-erased view of a corpus or a part of one. The corpus must outlive its views.
class CorpusView {
 public:
  template <TokenPairs Corpus>
  requires(!std::same_as<Corpus, CorpusView>) CorpusView(const Corpus& corpus)  // NOLINT: implicit conversion intended
      : corpus_(&corpus), calls_(&calls_of<Corpus>), size_(corpus.size()) {}
  template <TokenPairs Corpus>
  requires(!std::is_lvalue_reference_v<Corpus> && !std::same_as<std::remove_const_t<Corpus>, CorpusView>)
      CorpusView(Corpus&&)
  = delete;  // would dangle

  Index size() const { return size_; }
  Index first() const { return first_; }  // the place of pair 0 in the whole corpus
  Index source_length(Index i) const { return calls_->source_length(corpus_, first_ + i); }
  Index target_length(Index i) const { return calls_->target_length(corpus_, first_ + i); }
  std::span<const Token> source_tokens(Index i, std::vector<Token>& space) const {
    return calls_->source_tokens(corpus_, first_ + i, space);
  }
  std::span<const Token> target_tokens(Index i, std::vector<Token>& space) const {
    return calls_->target_tokens(corpus_, first_ + i, space);
  }

  /// A view of `count` pairs starting at pair `first`.
  CorpusView part(Index first, Index count) const {
    require(first >= 0 && count >= 0 && first <= size_ && count <= size_ - first, "CorpusView: pairs ", first, " to ",
            first + count, " are out of range: the corpus has ", size_, " pairs");
    CorpusView view = *this;
    view.first_ += first;
    view.size_ = count;
    return view;
  }

 private:
  struct Calls {
    Index (*source_length)(const void*, Index);
    Index (*target_length)(const void*, Index);
    std::span<const Token> (*source_tokens)(const void*, Index, std::vector<Token>&);
    std::span<const Token> (*target_tokens)(const void*, Index, std::vector<Token>&);
  };
  template <class Corpus>
  static constexpr Calls calls_of{
      [](const void* corpus, Index i) { return static_cast<const Corpus*>(corpus)->source_length(i); },
      [](const void* corpus, Index i) { return static_cast<const Corpus*>(corpus)->target_length(i); },
      [](const void* corpus, Index i, std::vector<Token>& space) {
        return static_cast<const Corpus*>(corpus)->source_tokens(i, space);
      },
      [](const void* corpus, Index i, std::vector<Token>& space) {
        return static_cast<const Corpus*>(corpus)->target_tokens(i, space);
      }};

  const void* corpus_;
  const Calls* calls_;
  Index first_ = 0, size_;
};

}  // namespace attn
