#pragma once
#include <algorithm>
#include <utility>

#include "attn/cuda/device.cuh"
#include "attn/cuda/expression/kernels.cuh"
#include "attn/cuda/support/sum_parts.cuh"

namespace attn {
namespace kernels {

/// Whether all leaves, and their gradients, can be read and written in packs.
template <class Types>
bool leaves_in_packs(const typename Types::Leaves& leaves, Index cols) {
  bool all = true;
  for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
    const auto& leaf = get<I>(leaves);
    if constexpr (Types::template kind<I>() == LeafKind::dense)
      all = all && in_packs(leaf.value, leaf.gradient.to);
    else if constexpr (Types::template kind<I>() == LeafKind::row)
      all = all && in_packs(leaf.value, cols, cols);
  });
  return all;
}

template <class Types>
inline constexpr bool kCanRepeat =
    Types::of_kind(LeafKind::dense) > 1 || Types::of_kind(LeafKind::row) > 1 || Types::of_kind(LeafKind::column) > 1;

/// Calls run<N, Repeated>(). Without packs, which is slow anyway, Repeated is always true.
template <class T, class Types, class Run>
void with_packs_and_repeats(bool packs, bool repeated, const Run& run) {
  with_packs<T>(packs, [&]<int N>() {
    if constexpr (N > 1)
      if (!repeated) return run.template operator()<N, false>();
    if constexpr (N == 1 || kCanRepeat<Types>) run.template operator()<N, true>();
  });
}

/// Rows per block, and the launch. The GPU runs `resident` blocks at once; the matrix is split into about `waves` times as many.
template <int N>
std::pair<Index, Spread> expression_spread(Index rows, Index cols, Index rows_at_once, Index resident, Index waves) {
  const Index groups = divide_up(cols, 32 * N), most = divide_up(rows, kExpressionWarps * rows_at_once);
  const Index rows_a_block = divide_up(rows, std::clamp<Index>(resident * waves / groups, 1, std::min<Index>(most, 65535)));
  const Spread spread{{static_cast<unsigned>(groups), static_cast<unsigned>(divide_up(rows, rows_a_block))},
                      static_cast<unsigned>(kExpressionThreads)};
  return {rows_a_block, spread};
}

/// Blocks of an expression's kernel that the GPU runs at once.
template <class Device, class... Parameters>
Index resident_blocks(const Device& device, void (*kernel)(Parameters...)) {
  int blocks = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kExpressionThreads, 0), "asking for occupancy");
  return Index{std::max(blocks, 1)} * device.multiprocessors();
}

}  // namespace kernels

template <class T, class E>
void evaluate_expression(Cuda<T>& device, const ExpressionArgs<Cuda<T>, E>& args) {
  using Types = typename ExpressionNode<E>::Leaves;
  const Matrix<T>& y = args.y;
  if (y.rows == 0 || y.cols == 0) return;
  const typename Types::Leaves leaves = leaves_of(args.expression);
  with_packs<T>(in_packs(y) && kernels::leaves_in_packs<Types>(leaves, y.cols), [&]<int N>() {
    device.use();
    const auto kernel = kernels::evaluate_expression<E, N, T>;
    static const Index resident = kernels::resident_blocks(device, kernel);
    const auto [height, spread] = kernels::expression_spread<N>(y.rows, y.cols, kernels::kExpressionRows<E>, resident, 4);
    launch(device, "evaluate_expression", spread, kernel, leaves, y, height);
  });
}

template <class T, class E>
void evaluate_expression_gradient(Cuda<T>& device, const ExpressionGradientArgs<Cuda<T>, E>& args) {
  using Types = typename ExpressionNode<E>::Leaves;
  constexpr int kVectors = Types::of_kind(LeafKind::row), kColumns = Types::of_kind(LeafKind::column);
  const Matrix<const T>& dy = args.dy;
  const typename Types::Leaves leaves = leaves_of(args.expression);
  const auto plan = plan_gradients<Types>(leaves);
  if (dy.rows == 0 || dy.cols == 0 || !plan.wanted(0, Types::count)) return;
  const bool packs = in_packs(dy) && kernels::leaves_in_packs<Types>(leaves, dy.cols);
  kernels::with_packs_and_repeats<T, Types>(packs, plan.repeated, [&]<int N, bool Repeated>() {
    (void)device.stream();  // runs a deferred op, which may use the workspace
    const auto kernel = kernels::expression_gradient<E, N, Repeated, T>;
    static const Index resident = kernels::resident_blocks(device, kernel);
    const auto [height, spread] =
        kernels::expression_spread<N>(dy.rows, dy.cols, kernels::kExpressionRows<E>, resident, kVectors > 0 ? 2 : 4);
    const Index groups = spread.blocks.x, blocks = spread.blocks.y, padded = groups * 32 * N;
    const Index row_size = kVectors * blocks * padded, column_size = kColumns * groups * dy.rows;
    float* parts = row_size + column_size > 0 ? device.template workspace<float>(row_size + column_size) : nullptr;
    float* row_parts = stores_kind<Types>(plan, LeafKind::row) ? parts : nullptr;
    float* column_parts = stores_kind<Types>(plan, LeafKind::column) ? parts + row_size : nullptr;
    launch(device, "evaluate_expression_gradient", spread, kernel, leaves, plan, dy, height, row_parts, column_parts);
    for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
      if constexpr (Types::template kind<I>() == LeafKind::column)
        if (plan.stores(I)) {
          const Matrix<T>& to = get<I>(leaves).gradient.to;
          sum_parts(device, "evaluate_expression_gradient of columns", kernels::SumsToMatrix<T>{to.data, 0, to.stride}, 1,
                    dy.rows, plan.add[I], column_parts + Types::of_kind(LeafKind::column, I) * groups * dy.rows, groups,
                    dy.rows);
        }
    });
    if constexpr (kVectors > 0) {
      if (row_parts == nullptr) return;
      kernels::SumsToVectors<kVectors> gradients{};
      for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
        if constexpr (Types::template kind<I>() == LeafKind::row)
          if (plan.stores(I)) gradients.vectors[Types::of_kind(LeafKind::row, I)] = get<I>(leaves).gradient;
      });
      sum_parts(device, "evaluate_expression_gradient of learned vectors", gradients, kVectors, dy.cols, true, row_parts,
                blocks, padded);
    }
  });
}

}  // namespace attn
