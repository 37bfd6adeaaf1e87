#pragma once
#include <Eigen/Core>

#include "attn/core/matrix.hpp"

namespace attn::cpu {

/// A row for Eigen's vectorised element-wise arithmetic.
template <class T>
using RowArray =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const Eigen::Array<std::remove_const_t<T>, 1, Eigen::Dynamic>,
                                  Eigen::Array<T, 1, Eigen::Dynamic>>>;

template <class T>
RowArray<T> array(T* data, Index count) {
  return {data, count};
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

/// Replaces a row by its softmax. Returns its log-sum-exp: -infinity if the row is empty.
template <class T>
T softmax_in_place(T* row, Index count) {
  if (count == 0) return -std::numeric_limits<T>::infinity();
  auto numbers = array(row, count);
  const T most = numbers.maxCoeff();
  numbers = (numbers - most).exp();
  const T sum = numbers.sum();
  numbers /= sum;
  return most + std::log(sum);
}

}  // namespace attn::cpu
