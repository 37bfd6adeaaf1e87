#pragma once
#include <Eigen/Core>

#include "attn/core/matrix.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/few_rows.hpp"

namespace attn::cpu {

/// Eigen's block sizes for a product, with the packed blocks in memory of ours: Eigen alone would take them from the heap
/// at every product.
template <class T>
class Blocking : public Eigen::internal::level3_blocking<T, T> {
 public:
  Blocking(Cpu<T>& device, int thread, Index rows, Index cols, Index depth) {
    this->m_mc = cols;  // a row-major result is computed as its column-major transpose
    this->m_nc = rows;
    this->m_kc = depth;
    Eigen::internal::computeProductBlockingSizes<T, T>(this->m_kc, this->m_mc, this->m_nc, Index{1});
    const Index left = static_cast<Index>(align_up(static_cast<std::size_t>(this->m_mc * this->m_kc)));
    this->m_blockA = device.workspace(thread, left + this->m_nc * this->m_kc);
    this->m_blockB = this->m_blockA + left;
  }
};

inline constexpr Index kFewRowsTransposed = 48, kFewRows = 2;  // up to how many rows copying into blocks does not pay

/// c += alpha a b on the calling thread, with a and b transposed first where their flags say so. Where c is a tile of a
/// product, whole_rows are the rows of all of it: how a number is summed must not depend on how the product was cut.
template <bool TransposeA = false, bool TransposeB = false, class T>
void gemm(Cpu<T>& device, int thread, Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha = 1,
          Index whole_rows = 0) {
  constexpr int order_a = TransposeA ? Eigen::ColMajor : Eigen::RowMajor;
  constexpr int order_b = TransposeB ? Eigen::ColMajor : Eigen::RowMajor;
  const Index depth = TransposeA ? a.rows : a.cols;
  if (c.rows == 0 || c.cols == 0 || depth == 0) return;
  [[maybe_unused]] const Index rows = std::max(c.rows, whole_rows);
  if constexpr (!TransposeA && TransposeB)
    if (rows <= kFewRowsTransposed) return few_rows_transposed(a, b, c, alpha);
  if constexpr (!TransposeA && !TransposeB)
    if (rows <= kFewRows) return few_rows(a, b, c, alpha);
  Blocking<T> blocking(device, thread, c.rows, c.cols, depth);
  Eigen::internal::general_matrix_matrix_product<Eigen::Index, T, order_a, false, T, order_b, false, Eigen::RowMajor,
                                                 1>::run(c.rows, c.cols, depth, a.data, a.stride, b.data, b.stride, c.data,
                                                         1, c.stride, alpha, blocking, nullptr);
}

}  // namespace attn::cpu
