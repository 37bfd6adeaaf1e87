#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// A non-owning view of a row-major matrix; row i starts at data + i * stride.
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
  constexpr T& operator()(Index i, Index j) const {
    check(i >= 0 && i < rows && j >= 0 && j < cols, "element", i, j);
    return data[i * stride + j];
  }
  constexpr Matrix row_range(Index first, Index count) const {
    check(first >= 0 && count >= 0 && first + count <= rows, "rows", first, first + count);
    return {row(first), count, cols, stride};
  }
  constexpr Matrix columns(Index first, Index count) const {
    check(first >= 0 && count >= 0 && first + count <= cols, "columns", first, first + count);
    return {data + first, rows, count, stride};
  }
  constexpr bool empty() const { return data == nullptr; }

 private:
  /// In a checked build, throws an Error on the host if an index is out of range.
  constexpr void check([[maybe_unused]] bool in_range, [[maybe_unused]] const char* what, [[maybe_unused]] Index i,
                       [[maybe_unused]] Index j) const {
#if defined(ATTN_CHECKED) && !defined(__CUDA_ARCH__)
    if (!in_range) fail(what, " ", i, ", ", j, " is out of range for a matrix of ", rows, " x ", cols);
#endif
  }
};

/// A matrix in GPU memory: the host can pass it on, but cannot read its elements.
template <class T>
struct DeviceMatrix : Matrix<T> {
  using Matrix<T>::Matrix;
  constexpr DeviceMatrix(Matrix<T> matrix) : Matrix<T>(matrix) {}

  template <class I>
  T& operator()(I, Index) const {
    static_assert(std::is_void_v<I>,
                  "attn: this matrix is in GPU memory: read it with download(x) of tape/transfer.hpp, or a parameter with "
                  "network.parameters.read(entry)");
    return *this->data;
  }
};

/// The destination of a gradient. The first contribution to an activation's gradient sets it, later ones add to it.
template <class T>
struct Sink {
  Matrix<T> to;
  bool add = false;

  constexpr void put(T& place, T value) const { place = add ? place + value : value; }
};

}  // namespace attn
