#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/pack.hpp"
#include "attn/ops/expression.hpp"

namespace attn {

namespace cpu {

/// Reads a leaf along one row: numbers from memory, or one number for all columns.
template <class T, class L>
struct LeafReader {
  const T* row = nullptr;
  void begin(const DenseLeaf<T>& leaf, Index i) { row = leaf.value.row(i); }
  Pack<T> read(Index j, const auto& lanes) const { return lanes.load(row + j); }
};
template <class T>
struct LeafReader<T, RowLeaf<T, T>> {
  const T* row = nullptr;
  Pack<T> number;
  bool scalar = false;
  void begin(const RowLeaf<T, T>& leaf, Index) {
    row = leaf.value;
    scalar = leaf.scalar;
    if (scalar) number = *row;
  }
  Pack<T> read(Index j, const auto& lanes) const { return scalar ? number : lanes.load(row + j); }
};
template <class T, class L>
requires std::is_same_v<L, ColumnLeaf<T>> || std::is_same_v<L, ScalarLeaf>
struct LeafReader<T, L> {
  Pack<T> number;
  void begin(const ColumnLeaf<T>& leaf, Index i) { number = *leaf.value.row(i); }
  void begin(const ScalarLeaf& leaf, Index) { number = leaf.value; }
  Pack<T> read(Index, const auto&) const { return number; }
};
template <class T>
struct LeafReader<T, DropoutLeaf> {
  bool active = false;
  Dropout::Row row{};
  void begin(const DropoutLeaf& leaf, Index i) {
    active = leaf.dropout.active();
    if (active) row = leaf.dropout.row(i);
  }
  Pack<T> read(Index j, const auto&) const {
    if (!active) return Pack<T>(1);
    T factors[Pack<T>::lanes];
    for (Index k = 0; k < Pack<T>::lanes; ++k) factors[k] = static_cast<T>(row(static_cast<std::uint32_t>(j + k)));
    return Pack<T>::load(factors);
  }
};

/// The readers of all leaves of an expression.
template <class T, class E>
struct Readers {
  using Types = typename ExpressionNode<E>::Leaves;
  template <class L>
  using Reader = LeafReader<T, L>;
  typename Types::template Wrapped<Reader> all;

  void begin(const typename Types::Leaves& leaves, Index i) {
    for_each_index<Types::count>([&]<int I>(StaticIndex<I>) { get<I>(all).begin(get<I>(leaves), i); });
  }
  /// The values of all nodes, from column j on.
  auto values(Index j, const auto& lanes) const {
    return ExpressionNode<E>::template values<0, Pack<T>>(
        [&]<int I>(StaticIndex<I>) { return get<I>(all).read(j, lanes); });
  }
};

/// One row's gradients. Contributions to learned vectors are added to `sums`, `padded` columns per vector.
template <class T, class E>
void expression_gradient_row(const typename ExpressionNode<E>::Leaves::Leaves& leaves,
                             const GradientPlan<ExpressionNode<E>::Leaves::count>& plan, const Matrix<const T>& dy, Index i,
                             T* sums, Index padded) {
  using Types = typename ExpressionNode<E>::Leaves;
  constexpr int kLeaves = Types::count;
  Readers<T, E> readers;
  readers.begin(leaves, i);
  Pack<T> row_sums[kLeaves];  // of columns
  for (Pack<T>& sum : row_sums) sum = Pack<T>(0);
  for_each_pack<T>(dy.cols, [&](Index j, const auto& lanes) {
    Pack<T> gradients[kLeaves];
    for (Pack<T>& gradient : gradients) gradient = Pack<T>(0);
    const auto wanted = [&]<int First, int End>(StaticIndex<First>, StaticIndex<End>) { return plan.wanted(First, End); };
    ExpressionNode<E>::template differentiate<0, Pack<T>>(
        readers.values(j, lanes), lanes.load(dy.row(i) + j), wanted,
        [&]<int I>(StaticIndex<I>, const Pack<T>& d) { gradients[I] = d; });
    add_repeated<Types>(plan, gradients);
    for_each_index<kLeaves>([&]<int I>(StaticIndex<I>) {
      constexpr LeafKind kKind = Types::template kind<I>();
      if (kKind == LeafKind::none || !plan.stores(I)) return;
      if constexpr (kKind == LeafKind::dense) {
        T* place = get<I>(leaves).gradient.to.row(i) + j;
        lanes.store(place, plan.add[I] ? lanes.load(place) + gradients[I] : gradients[I]);
      } else if constexpr (kKind == LeafKind::row) {
        T* place = sums + Types::of_kind(LeafKind::row, I) * padded + j;
        (Pack<T>::load(place) + gradients[I]).store(place);
      } else if constexpr (kKind == LeafKind::column) {
        row_sums[I] += lanes.used(gradients[I]);
      }
    });
  });
  for_each_index<kLeaves>([&]<int I>(StaticIndex<I>) {
    if constexpr (Types::template kind<I>() == LeafKind::column)
      if (plan.stores(I)) {
        T numbers[Pack<T>::lanes], sum = 0;
        row_sums[I].store(numbers);
        for (const T number : numbers) sum += number;
        T* place = get<I>(leaves).gradient.to.row(i);
        *place = plan.add[I] ? *place + sum : sum;
      }
  });
}

}  // namespace cpu

template <class T, class E>
void evaluate_expression(Cpu<T>& device, const ExpressionArgs<Cpu<T>, E>& args) {
  const auto leaves = leaves_of(args.expression);
  device.parallel_ranges(args.y.rows, 16, [&](Index first, Index last, int) {
    cpu::Readers<T, E> readers;
    for (Index i = first; i < last; ++i) {
      readers.begin(leaves, i);
      T* y = args.y.row(i);
      cpu::for_each_pack<T>(args.y.cols,
                            [&](Index j, const auto& lanes) { lanes.store(y + j, readers.values(j, lanes).value); });
    }
  });
}

template <class T, class E>
void evaluate_expression_gradient(Cpu<T>& device, const ExpressionGradientArgs<Cpu<T>, E>& args) {
  using Types = typename ExpressionNode<E>::Leaves;
  constexpr Index kLanes = cpu::Pack<T>::lanes;
  const auto leaves = leaves_of(args.expression);
  const auto plan = plan_gradients<Types>(leaves);
  const Index rows = args.dy.rows, cols = args.dy.cols, padded = (cols + kLanes - 1) / kLanes * kLanes;
  if (rows == 0 || cols == 0 || !plan.wanted(0, Types::count)) return;
  // The number of blocks does not depend on the number of threads, so neither do the sums for learned vectors.
  const Index height = std::max<Index>(16, (rows + 63) / 64), blocks = (rows + height - 1) / height;
  constexpr int kVectors = Types::of_kind(LeafKind::row);
  const Index size = kVectors * padded;
  T* sums = kVectors == 0 ? nullptr : device.results(blocks * size);
  device.parallel(blocks, [&](Index block, int) {
    T* own = sums + block * size;
    std::fill_n(own, size, T(0));
    for (Index i = block * height; i < std::min(rows, (block + 1) * height); ++i)
      cpu::expression_gradient_row<T, E>(leaves, plan, args.dy, i, own, padded);
  });
  for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
    if constexpr (Types::template kind<I>() == LeafKind::row)
      if (plan.stores(I))
        for (Index block = 0; block < blocks; ++block) {
          const T* part = sums + block * size + Types::of_kind(LeafKind::row, I) * padded;
          T* gradient = get<I>(leaves).gradient;
          T total = 0;  // of a learned scalar
          for (Index j = 0; j < cols; ++j) (get<I>(leaves).scalar ? total : gradient[j]) += part[j];
          if (get<I>(leaves).scalar) *gradient += total;
        }
  });
}

}  // namespace attn
