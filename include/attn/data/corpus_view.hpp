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
      : size_(corpus.size()),
        source_length_([&corpus](Index i) { return corpus.source_length(i); }),
        target_length_([&corpus](Index i) { return corpus.target_length(i); }),
        source_tokens_([&corpus](Index i, std::vector<Token>& space) { return corpus.source_tokens(i, space); }),
        target_tokens_([&corpus](Index i, std::vector<Token>& space) { return corpus.target_tokens(i, space); }) {}
  template <TokenPairs Corpus>
  requires(!std::is_lvalue_reference_v<Corpus> && !std::same_as<std::remove_const_t<Corpus>, CorpusView>)
      CorpusView(Corpus&&)
  = delete;  // would dangle

  Index size() const { return size_; }
  Index first() const { return first_; }  // the place of pair 0 in the whole corpus
  Index source_length(Index i) const { return source_length_(first_ + i); }
  Index target_length(Index i) const { return target_length_(first_ + i); }
  std::span<const Token> source_tokens(Index i, std::vector<Token>& space) const {
    return source_tokens_(first_ + i, space);
  }
  std::span<const Token> target_tokens(Index i, std::vector<Token>& space) const {
    return target_tokens_(first_ + i, space);
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
  using Tokens = std::span<const Token>(Index, std::vector<Token>& space);

  Index first_ = 0, size_;
  std::function<Index(Index)> source_length_, target_length_;
  std::function<Tokens> source_tokens_, target_tokens_;
};

}  // namespace attn
