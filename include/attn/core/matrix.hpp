#pragma once
#include <type_traits>

#include "attn/core/types.hpp"

namespace attn {

/// A view of a row-major matrix that somebody else owns; row i starts at data + i * stride.
template <class T>
struct Matrix {
  T* data = nullptr;
  Index rows = 0, cols = 0, stride = 0;

  constexpr Matrix() = default;
  constexpr Matrix(T* first, Index row_count, Index col_count, Index row_stride)
      : data(first), rows(row_count), cols(col_count), stride(row_stride) {}
  constexpr Matrix(T* first, Index row_count, Index col_count) : Matrix(first, row_count, col_count, col_count) {}

  template <class Same>
  requires std::is_same_v<Same, T>
  constexpr operator Matrix<const Same>() const { return {data, rows, cols, stride}; }

  constexpr T* row(Index i) const { return data + i * stride; }
  constexpr T& operator()(Index i, Index j) const { return data[i * stride + j]; }
  constexpr Matrix row_range(Index first, Index count) const { return {row(first), count, cols, stride}; }
  constexpr Matrix columns(Index first, Index count) const { return {data + first, rows, count, stride}; }
  constexpr bool empty() const { return data == nullptr; }
};

/// Where a gradient goes. The first contribution to an activation's gradient sets it, later ones add to it.
template <class T>
struct Sink {
  Matrix<T> to;
  bool add = false;

  constexpr void put(T& place, T value) const { place = add ? place + value : value; }
};

}  // namespace attn
