#pragma once
#include <Eigen/Core>
#include <algorithm>

#include "attn/core/matrix.hpp"

namespace attn::cpu {

/// A row for Eigen's vectorised element-wise arithmetic.
template <class T>
using RowArray = Eigen::Map<Eigen::Array<std::remove_const_t<T>, 1, Eigen::Dynamic>>;
template <class T>
using ConstRowArray = Eigen::Map<const Eigen::Array<std::remove_const_t<T>, 1, Eigen::Dynamic>>;

template <class T>
auto array(T* data, Index count) {
  if constexpr (std::is_const_v<T>)
    return ConstRowArray<T>(data, count);
  else
    return RowArray<T>(data, count);
}

/// Row i of a matrix.
template <class T>
auto row_array(const Matrix<T>& matrix, Index i) {
  return array(matrix.row(i), matrix.cols);
}

/// place = values, or place += values if `add`.
void put(auto&& place, const auto& values, bool add) {
  if (add)
    place += values;
  else
    place = values;
}

/// Sets a matrix to 0.
template <class T>
void clear(Matrix<T> matrix) {
  for (Index i = 0; i < matrix.rows; ++i) std::fill_n(matrix.row(i), matrix.cols, T(0));
}

}  // namespace attn::cpu
