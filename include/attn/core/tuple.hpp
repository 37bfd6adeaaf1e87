#pragma once
#include "attn/core/random.hpp"

namespace attn {

/// An index known at compile time.
template <int I>
using StaticIndex = std::integral_constant<int, I>;

template <int I, class T>
struct TupleElement {
  T value;
};

template <class Indices, class... T>
struct TupleElements;
template <std::size_t... I, class... T>
struct TupleElements<std::index_sequence<I...>, T...> : TupleElement<static_cast<int>(I), T>... {
  TupleElements() = default;
  ATTN_BOTH constexpr explicit TupleElements(const T&... values) : TupleElement<static_cast<int>(I), T>{values}... {}
};

/// A trivially copyable tuple for kernel parameters. Device code cannot call std::get, which is a host function.
template <class... T>
struct Tuple : TupleElements<std::index_sequence_for<T...>, T...> {
  static constexpr int size = static_cast<int>(sizeof...(T));

  Tuple() = default;
  ATTN_BOTH constexpr Tuple(const T&... values) : TupleElements<std::index_sequence_for<T...>, T...>(values...) {}
};

template <int I, class T>
ATTN_BOTH constexpr const T& get(const TupleElement<I, T>& element) {
  return element.value;
}
template <int I, class T>
ATTN_BOTH constexpr T& get(TupleElement<I, T>& element) {
  return element.value;
}

/// Calls visit(StaticIndex<0>), ..., visit(StaticIndex<N - 1>).
#ifdef __CUDACC__
#pragma nv_exec_check_disable  // allows a host function to visit with a host function
#endif
template <int N, int I = 0, class Visit>
ATTN_BOTH constexpr void for_each_index(const Visit& visit) {
  if constexpr (I < N) {
    visit(StaticIndex<I>{});
    for_each_index<N, I + 1>(visit);
  }
}

}  // namespace attn
