#pragma once
#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "attn/core/types.hpp"

namespace attn::detail {

/// Lexicographic order of n-grams of words or characters.
struct NgramOrder {
  template <class T>
  bool operator()(std::span<const T> a, std::span<const T> b) const {
    return std::ranges::lexicographical_compare(a, b);
  }
};

/// The n-grams of a sentence as a sorted multiset.
template <class T>
std::vector<std::span<const T>> sorted_ngrams(std::span<const T> sentence, std::size_t n) {
  std::vector<std::span<const T>> ngrams;
  for (std::size_t i = 0; i + n <= sentence.size(); ++i) ngrams.push_back(sentence.subspan(i, n));
  std::ranges::sort(ngrams, NgramOrder{});
  return ngrams;
}

/// The size of the intersection of two multisets of n-grams.
template <class T>
Index shared_ngrams(const std::vector<std::span<const T>>& a, const std::vector<std::span<const T>>& b) {
  std::vector<std::span<const T>> shared;
  std::ranges::set_intersection(a, b, std::back_inserter(shared), NgramOrder{});
  return std::ssize(shared);
}

/// The union of two multisets: each n-gram with its higher count.
template <class T>
std::vector<std::span<const T>> either_ngrams(const std::vector<std::span<const T>>& a,
                                              const std::vector<std::span<const T>>& b) {
  std::vector<std::span<const T>> either;
  std::ranges::set_union(a, b, std::back_inserter(either), NgramOrder{});
  return either;
}

}  // namespace attn::detail
