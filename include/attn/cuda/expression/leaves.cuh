#pragma once
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/expression.hpp"

namespace attn::kernels {

/// The values of a leaf at N columns of a row, in registers. `begin` loads values that do not depend on the row.
template <class L, int N>
struct LeafPack;

template <class T, int N>
struct LeafPack<DenseLeaf<T>, N> {
  Pack<T, N> numbers;
  __device__ void begin(const DenseLeaf<T>&, int) {}
  __device__ void load(const DenseLeaf<T>& leaf, Index i, int j) { numbers = load_pack<N>(row_of(leaf.value, i) + j); }
  __device__ float operator[](int k) const { return numbers[k]; }
};

template <class T, class Real, int N>
struct LeafPack<RowLeaf<T, Real>, N> {
  Pack<T, N> numbers;
  __device__ void begin(const RowLeaf<T, Real>& leaf, int j) { numbers = load_pack<N>(leaf.value + j); }
  __device__ void load(const RowLeaf<T, Real>&, Index, int) {}
  __device__ float operator[](int k) const { return numbers[k]; }
};

template <class T, int N>
struct LeafPack<ColumnLeaf<T>, N> {
  float number;
  __device__ void begin(const ColumnLeaf<T>&, int) {}
  __device__ void load(const ColumnLeaf<T>& leaf, Index i, int) { number = to_float(*row_of(leaf.value, i)); }
  __device__ float operator[](int) const { return number; }
};

template <int N>
struct LeafPack<ScalarLeaf, N> {
  float number;
  __device__ void begin(const ScalarLeaf& leaf, int) { number = static_cast<float>(leaf.value); }
  __device__ void load(const ScalarLeaf&, Index, int) {}
  __device__ float operator[](int) const { return number; }
};

template <int N>
struct LeafPack<DropoutLeaf, N> {
  float numbers[N];
  __device__ void begin(const DropoutLeaf&, int) {}
  __device__ void load(const DropoutLeaf& leaf, Index i, int j) {
    const Factors<N> factors(leaf.dropout.row(i), j);
#pragma unroll
    for (int k = 0; k < N; ++k) numbers[k] = factors[k];
  }
  __device__ float operator[](int k) const { return numbers[k]; }
};

/// The packs of all leaves of an expression.
template <class E, int N>
struct LeafPacks {
  using Types = typename ExpressionNode<E>::Leaves;
  using Leaves = typename Types::Leaves;
  template <class L>
  using OfLeaf = LeafPack<L, N>;
  typename Types::template Wrapped<OfLeaf> all;

  __device__ void begin(const Leaves& leaves, int j) {
    for_each_index<Types::count>([&]<int I>(StaticIndex<I>) { get<I>(all).begin(get<I>(leaves), j); });
  }
  __device__ void load(const Leaves& leaves, Index i, int j) {
    for_each_index<Types::count>([&]<int I>(StaticIndex<I>) { get<I>(all).load(get<I>(leaves), i, j); });
  }
  /// The values of all nodes at column k of the pack.
  __device__ auto values(int k) const {
    return ExpressionNode<E>::template values<0, float>([&]<int I>(StaticIndex<I>) { return get<I>(all)[k]; });
  }
};

/// Rows that a warp loads at once, so that the loads overlap. More leaves need more registers.
template <class E>
inline constexpr int kExpressionRows = ExpressionNode<E>::Leaves::of_kind(LeafKind::dense) <= 3 ? 2 : 1;

}  // namespace attn::kernels
