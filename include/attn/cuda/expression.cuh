#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/expression.hpp"

// A block processes a range of rows of 32 * N columns. Each warp takes every eighth row, each lane the same N columns of
// all its rows: a learned vector is loaded once, and the sum of its gradient stays in registers until the end.

namespace attn {
namespace kernels {

/// The values of a leaf at N columns of a row, in registers. begin() loads values that do not depend on the row, load() others.
template <class L, int N>
struct LeafPack;

template <class Numbers>  // one for each column, or a float for all
struct LeafNumbers {
  Numbers numbers;
  __device__ void begin(const auto&, int) {}
  __device__ void load(const auto&, Index, int) {}
  __device__ float operator[](int k) const {
    if constexpr (std::is_same_v<Numbers, float>)
      return numbers;
    else
      return numbers[k];
  }
};

template <class T, int N>
struct LeafPack<DenseLeaf<T>, N> : LeafNumbers<Pack<T, N>> {
  __device__ void load(const DenseLeaf<T>& leaf, Index i, int j) {
    this->numbers = load_pack<N>(row_of(leaf.value, i) + j);
  }
};
template <class T, class Real, int N>
struct LeafPack<RowLeaf<T, Real>, N> : LeafNumbers<Pack<T, N>> {
  __device__ void begin(const RowLeaf<T, Real>& leaf, int j) {
    if (!leaf.scalar) this->numbers = load_pack<N>(leaf.value + j);
    for (int k = 0; leaf.scalar && k < N; ++k) this->numbers.set(k, to_float(*leaf.value));
  }
};
template <class T, int N>
struct LeafPack<ColumnLeaf<T>, N> : LeafNumbers<float> {
  __device__ void load(const ColumnLeaf<T>& leaf, Index i, int) { numbers = to_float(*row_of(leaf.value, i)); }
};
template <int N>
struct LeafPack<ScalarLeaf, N> : LeafNumbers<float> {
  __device__ void begin(const ScalarLeaf& leaf, int) { numbers = static_cast<float>(leaf.value); }
};
template <int N>
struct LeafPack<DropoutLeaf, N> : LeafNumbers<float[N]> {
  __device__ void load(const DropoutLeaf& leaf, Index i, int j) {
    const Factors<N> factors(leaf.dropout.row(i), j);
    for (int k = 0; k < N; ++k) this->numbers[k] = factors[k];
  }
};

template <class E, int N>
struct LeafPacks {
  using Types = typename ExpressionNode<E>::Leaves;
  template <class L>
  using OfLeaf = LeafPack<L, N>;
  typename Types::template Wrapped<OfLeaf> all;

  __device__ void begin(const auto& leaves, int j) {
    for_each_index<Types::count>([&]<int I>(StaticIndex<I>) { get<I>(all).begin(get<I>(leaves), j); });
  }
  __device__ void load(const auto& leaves, Index i, int j) {
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

inline constexpr int kExpressionWarps = 8, kExpressionThreads = 32 * kExpressionWarps;

template <class E, int N, class T>
__global__ void __launch_bounds__(kExpressionThreads)
    evaluate_expression(typename ExpressionNode<E>::Leaves::Leaves leaves, Matrix<T> y, Index rows_a_block) {
  constexpr int kAtOnce = kExpressionRows<E>;
  const int j = (static_cast<int>(blockIdx.x) * 32 + lane_of_warp()) * N;
  if (j >= y.cols) return;
  const Index first = rows_a_block * blockIdx.y, end = min(first + rows_a_block, y.rows);
  LeafPacks<E, N> packs[kAtOnce];
#pragma unroll
  for (int r = 0; r < kAtOnce; ++r) packs[r].begin(leaves, j);
  for (Index i = first + threadIdx.x / 32; i < end; i += kAtOnce * kExpressionWarps) {
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) packs[r].load(leaves, min(i + r * kExpressionWarps, end - 1), j);
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      if (i + r * kExpressionWarps >= end) continue;
      Pack<T, N> result;
      for (int k = 0; k < N; ++k) result.set(k, packs[r].values(k).value);
      store_pack(row_of(y, i + r * kExpressionWarps) + j, result);
    }
  }
}

/// Gradients of dense leaves are final. Sums over this block's rows go to row_parts (block of rows, vector, column of all
/// blocks), sums over this block's columns to column_parts (column leaf, block of columns, row); null if not wanted.
/// Repeated: leaves may share the place of their gradient. A run-time test would keep the compiler from interleaving
/// positions.
template <class E, int N, bool Repeated, class T>
__global__ void __launch_bounds__(kExpressionThreads)
    expression_gradient(typename ExpressionNode<E>::Leaves::Leaves leaves, GradientPlan<ExpressionNode<E>::leaves> plan,
                        Matrix<const T> dy, Index rows_a_block, float* row_parts, float* column_parts) {
  using Types = typename ExpressionNode<E>::Leaves;
  constexpr int kLeaves = Types::count, kAtOnce = kExpressionRows<E>, kDense = Types::of_kind(LeafKind::dense),
                kVectors = Types::of_kind(LeafKind::row), kColumns = Types::of_kind(LeafKind::column);
  const int lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32;
  const int own = (static_cast<int>(blockIdx.x) * 32 + lane) * N;
  const bool inside = own < dy.cols;
  const int j = inside ? own : 0;  // lanes beyond the last column take part in the warp's sums and store nothing
  const Index first = rows_a_block * blockIdx.y, end = min(first + rows_a_block, dy.rows);

  float row_sums[kVectors > 0 ? kVectors : 1][N] = {};
  LeafPacks<E, N> packs[kAtOnce];
#pragma unroll
  for (int r = 0; r < kAtOnce; ++r) packs[r].begin(leaves, j);
  for (Index start = first + warp; start < end; start += kAtOnce * kExpressionWarps) {
    Pack<T, N> dys[kAtOnce];
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      const Index i = min(start + r * kExpressionWarps, end - 1);
      dys[r] = load_pack<N>(row_of(dy, i) + j);
      packs[r].load(leaves, i, j);
    }
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      const Index i = start + r * kExpressionWarps;
      if (i >= end) continue;
      Pack<T, N> dense[kDense > 0 ? kDense : 1] = {};
      float column_sums[kColumns > 0 ? kColumns : 1] = {};
      for_each_index<kLeaves>([&]<int I>(StaticIndex<I>) {
        if constexpr (Types::template kind<I>() == LeafKind::dense)
          if (plan.stores(I) && plan.add[I])
            dense[Types::of_kind(LeafKind::dense, I)] = load_pack<N>(row_of(get<I>(leaves).gradient.to, i) + j);
      });
      for (int k = 0; k < N; ++k) {
        float gradients[kLeaves] = {};
        ExpressionNode<E>::template differentiate<0, float>(
            packs[r].values(k), dys[r][k], [](auto, auto) { return true; },
            [&]<int I>(StaticIndex<I>, float d) { gradients[I] = d; });
        if constexpr (Repeated) add_repeated<Types>(plan, gradients);
        for_each_index<kLeaves>([&]<int I>(StaticIndex<I>) {
          constexpr LeafKind kKind = Types::template kind<I>();
          if constexpr (kKind == LeafKind::dense) {
            constexpr int kAt = Types::of_kind(LeafKind::dense, I);
            dense[kAt].set(k, dense[kAt][k] + gradients[I]);
          } else if constexpr (kKind == LeafKind::row) {
            row_sums[Types::of_kind(LeafKind::row, I)][k] += gradients[I];
          } else if constexpr (kKind == LeafKind::column) {
            column_sums[Types::of_kind(LeafKind::column, I)] += inside ? gradients[I] : 0;
          }
        });
      }
      for_each_index<kLeaves>([&]<int I>(StaticIndex<I>) {
        constexpr LeafKind kKind = Types::template kind<I>();
        if constexpr (kKind == LeafKind::dense) {
          if (inside && plan.stores(I))
            store_pack(row_of(get<I>(leaves).gradient.to, i) + j, dense[Types::of_kind(LeafKind::dense, I)]);
        } else if constexpr (kKind == LeafKind::column) {
          if (column_parts == nullptr) return;
          constexpr int kAt = Types::of_kind(LeafKind::column, I);
          const float sum = warp_sum(column_sums[kAt]);
          if (lane == 0) column_parts[(Index{kAt} * gridDim.x + blockIdx.x) * dy.rows + i] = sum;
        }
      });
    }
  }

  if constexpr (kVectors > 0) {
    if (row_parts == nullptr) return;
    __shared__ float shared[kExpressionWarps][32 * N];
    const Index cols = Index{gridDim.x} * 32 * N;  // rounded up to whole blocks
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      __syncthreads();  // the sums of the previous vector have been read
      for (int k = 0; k < N; ++k) shared[warp][lane * N + k] = row_sums[v][k];
      __syncthreads();
      for (int c = static_cast<int>(threadIdx.x); c < 32 * N; c += kExpressionThreads) {
        float sum = 0;
#pragma unroll
        for (int w = 0; w < kExpressionWarps; ++w) sum += shared[w][c];
        row_parts[(Index{blockIdx.y} * kVectors + v) * cols + blockIdx.x * 32 * N + c] = sum;
      }
    }
  }
}

/// Whether all leaves, and their gradients, can be read and written in packs.
template <class Types>
bool leaves_in_packs(const typename Types::Leaves& leaves, Index cols) {
  bool all = true;
  for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
    const auto& leaf = get<I>(leaves);
    if constexpr (Types::template kind<I>() == LeafKind::dense)
      all = all && in_packs(leaf.value, leaf.gradient.to);
    else if constexpr (Types::template kind<I>() == LeafKind::row)
      all = all && (leaf.scalar || in_packs(leaf.value, cols, cols));
  });
  return all;
}

/// Rows per block, and the launch. The GPU runs `resident` blocks at once; the matrix is split into about `waves` times as many.
template <class E, int N>
std::pair<Index, Spread> expression_spread(Index rows, Index cols, Index resident, Index waves) {
  const Index groups = divide_up(cols, 32 * N), most = divide_up(rows, kExpressionWarps * kExpressionRows<E>);
  const Index rows_a_block = divide_up(rows, std::clamp<Index>(resident * waves / groups, 1, std::min<Index>(most, 65535)));
  const dim3 blocks(static_cast<unsigned>(groups), static_cast<unsigned>(divide_up(rows, rows_a_block)));
  return {rows_a_block, {blocks, kExpressionThreads}};
}

}  // namespace kernels

template <class T, class E>
void evaluate_expression(Cuda<T>& device, const ExpressionArgs<Cuda<T>, E>& args) {
  using Types = typename ExpressionNode<E>::Leaves;
  if (args.y.rows == 0 || args.y.cols == 0) return;
  const typename Types::Leaves leaves = leaves_of(args.expression);
  with_packs<T>(in_packs(args.y) && kernels::leaves_in_packs<Types>(leaves, args.y.cols), [&]<int N>() {
    device.use();
    const auto kernel = kernels::evaluate_expression<E, N, T>;
    static const Index resident = resident_blocks(device, kernel, kernels::kExpressionThreads);
    const auto [height, spread] = kernels::expression_spread<E, N>(args.y.rows, args.y.cols, resident, 4);
    launch(device, "evaluate_expression", spread, kernel, leaves, args.y, height);
  });
}

template <class T, class E>
void evaluate_expression_gradient(Cuda<T>& device, const ExpressionGradientArgs<Cuda<T>, E>& args) {
  using Types = typename ExpressionNode<E>::Leaves;
  constexpr int kDense = Types::of_kind(LeafKind::dense), kVectors = Types::of_kind(LeafKind::row),
                kColumns = Types::of_kind(LeafKind::column);
  const typename Types::Leaves leaves = leaves_of(args.expression);
  const auto plan = plan_gradients<Types>(leaves);
  if (args.dy.rows == 0 || args.dy.cols == 0 || !plan.wanted(0, Types::count)) return;
  const auto run = [&]<int N, bool Repeated>() {
    (void)device.stream();  // runs a deferred op, which may use the workspace
    const auto kernel = kernels::expression_gradient<E, N, Repeated, T>;
    static const Index resident = resident_blocks(device, kernel, kernels::kExpressionThreads);
    const auto [height, spread] =
        kernels::expression_spread<E, N>(args.dy.rows, args.dy.cols, resident, kVectors > 0 ? 2 : 4);
    const Index groups = spread.blocks.x, blocks = spread.blocks.y, padded = groups * 32 * N;
    const Index row_size = kVectors * blocks * padded, column_size = kColumns * groups * args.dy.rows;
    const Index size = row_size + column_size + kVectors * args.dy.cols;
    float* parts = size > 0 ? device.template workspace<float>(size) : nullptr;
    float* row_parts = stores_kind<Types>(plan, LeafKind::row) ? parts : nullptr;
    float* column_parts = stores_kind<Types>(plan, LeafKind::column) ? parts + row_size : nullptr;
    launch(device, "evaluate_expression_gradient", spread, kernel, leaves, plan, args.dy, height, row_parts, column_parts);
    for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
      if constexpr (Types::template kind<I>() == LeafKind::column)
        if (plan.stores(I)) {
          const Matrix<T>& to = get<I>(leaves).gradient.to;
          sum_parts(device, "evaluate_expression_gradient of columns", kernels::SumsToMatrix<T>{to.data, 0, to.stride}, 1,
                    args.dy.rows, plan.add[I], column_parts + Types::of_kind(LeafKind::column, I) * groups * args.dy.rows,
                    groups, args.dy.rows);
        }
    });
    if constexpr (kVectors > 0) {
      if (row_parts == nullptr) return;
      kernels::SumsToVectors<kVectors> gradients{};
      float* scalars[kVectors] = {};  // first summed over rows, like vectors
      for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
        if constexpr (Types::template kind<I>() == LeafKind::row)
          if (plan.stores(I))
            (get<I>(leaves).scalar ? scalars : gradients.vectors)[Types::of_kind(LeafKind::row, I)] =
                get<I>(leaves).gradient;
      });
      for (int v = 0; v < kVectors; ++v)
        if (scalars[v] != nullptr)
          device.zero(gradients.vectors[v] = parts + row_size + column_size + v * args.dy.cols, args.dy.cols);
      sum_parts(device, "sums of learned vectors", gradients, kVectors, args.dy.cols, true, row_parts, blocks, padded);
      for (int v = 0; v < kVectors; ++v)
        if (scalars[v] != nullptr)
          sum_numbers(device, "sum of a learned scalar", true, gradients.vectors[v], args.dy.cols, 1, scalars[v]);
    }
  };
  with_packs<T>(in_packs(args.dy) && kernels::leaves_in_packs<Types>(leaves, args.dy.cols), [&]<int N>() {
    if constexpr (N > 1)
      if (!plan.repeated) return run.template operator()<N, false>();
    // Without packs, which is slow anyway, Repeated is always true.
    if constexpr (N == 1 || kDense > 1 || kVectors > 1 || kColumns > 1) run.template operator()<N, true>();
  });
}

}  // namespace attn
