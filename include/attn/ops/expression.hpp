#pragma once
#include "attn/core/tuple.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/functions.hpp"

// Arithmetic on activations, fused into one pass.
//
//   evaluate_expression            y = expression
//   evaluate_expression_gradient   the gradients of the expression's leaves, from dy
//
// An expression is a tree of types: functions of numbers (ops/functions.hpp) applied to leaves. y may be the same matrix
// as a dense leaf's value. The backward pass recomputes intermediate values, so none is stored.
//
// Leaves with the same gradient memory sum their contributions. The op overwrites that memory if one of their Sinks sets,
// and adds to it otherwise. A leaf without gradient memory gets no gradient.

namespace attn {

/// A matrix of the expression's shape.
template <class T>
struct DenseLeaf {
  Matrix<const T> value;  // rows x cols
  Sink<T> gradient;       // rows x cols, or none
};

/// A learned vector, the same for all rows, or a learned scalar.
template <class T, class Real>
struct RowLeaf {
  const T* value;       // cols, or 1
  Real* gradient;       // as many, or null: accumulates the sum over rows, or over all elements
  bool scalar = false;  // one number for all columns
};

/// One number per row, the same for all columns.
template <class T>
struct ColumnLeaf {
  Matrix<const T> value;  // rows x 1, or none
  Sink<T> gradient;       // rows x 1, or none: the sum over columns
};

struct ScalarLeaf {
  double value;
};

/// 0 or 1 / (1 - rate): the dropout mask as a factor. 1 everywhere if dropout is inactive.
struct DropoutLeaf {
  Dropout dropout;
};

/// F applied to other expressions.
template <class F, class... E>
struct Apply {
  Tuple<E...> of;
};

template <class Device, class E>
struct ExpressionArgs {
  E expression;
  Matrix<typename Device::Scalar> y;  // rows x cols
};

template <class Device, class E>
struct ExpressionGradientArgs {
  E expression;
  Matrix<const typename Device::Scalar> dy;  // rows x cols
};

// Shared by the backends to compute an expression: its leaves as a flat tuple, its values and derivatives at one position,
// and the destinations of its gradients.

enum class LeafKind { none, dense, row, column };  // none: never has a gradient

template <class L>
inline constexpr LeafKind leaf_kind = LeafKind::none;
template <class T>
inline constexpr LeafKind leaf_kind<DenseLeaf<T>> = LeafKind::dense;
template <class T, class Real>
inline constexpr LeafKind leaf_kind<RowLeaf<T, Real>> = LeafKind::row;
template <class T>
inline constexpr LeafKind leaf_kind<ColumnLeaf<T>> = LeafKind::column;

template <class... L>
struct LeafTypes {
  static constexpr int count = static_cast<int>(sizeof...(L));
  template <template <class> class Wrap>
  using Wrapped = Tuple<Wrap<L>...>;
  using Leaves = Tuple<L...>;
  /// The number of leaves of a kind, in total or before leaf `before`.
  ATTN_BOTH static constexpr int of_kind(LeafKind kind, int before = count) {
    const LeafKind kinds[] = {leaf_kind<L>...};
    int found = 0;
    for (int i = 0; i < before; ++i) found += kinds[i] == kind;
    return found;
  }
  template <int I>
  ATTN_BOTH static constexpr LeafKind kind() {
    const LeafKind kinds[] = {leaf_kind<L>...};
    return kinds[I];
  }
};
template <class... A, class... B>
LeafTypes<A..., B...> operator+(LeafTypes<A...>, LeafTypes<B...>);

/// Computes an expression at one position. V is the number type; leaves are numbered from left to right.
template <class E>
struct ExpressionNode {  // a leaf
  using Leaves = LeafTypes<E>;
  static constexpr int leaves = 1;
  static constexpr bool differentiable = leaf_kind<E> != LeafKind::none;

  template <class V>
  struct Values {
    V value;
  };

  /// The values of all nodes. `First` is the index of the first leaf; read(StaticIndex<leaf>) gives a leaf's value.
  template <int First, class V, class Read>
  ATTN_BOTH static Values<V> values(const Read& read) {
    return {read(StaticIndex<First>{})};
  }
  /// Calls give(StaticIndex<leaf>, contribution) for each leaf that wants a gradient; d is the gradient of this node.
  template <int First, class V, class Wanted, class Give>
  ATTN_BOTH static void differentiate(const Values<V>&, const V& d, const Wanted&, const Give& give) {
    give(StaticIndex<First>{}, d);
  }
  template <int First, class Visit>
  static void for_each_leaf(const E& leaf, const Visit& visit) {
    visit(StaticIndex<First>{}, leaf);
  }
};

template <class F, class... E>
struct ExpressionNode<Apply<F, E...>> {
  using Leaves = decltype((typename ExpressionNode<E>::Leaves{} + ...));
  static constexpr int leaves = Leaves::count;
  static constexpr bool differentiable = !is_constant<F> && (ExpressionNode<E>::differentiable || ...);

  template <class V>
  struct Values {
    V value;
    Tuple<typename ExpressionNode<E>::template Values<V>...> of;
  };

  template <int First, class V, class Read>
  ATTN_BOTH static Values<V> values(const Read& read) {
    return values_of<First, V>(read, std::index_sequence_for<E...>{});
  }
  /// wanted(StaticIndex<first>, StaticIndex<end>): whether a leaf in [first, end) wants a gradient.
  template <int First, class V, class Wanted, class Give>
  ATTN_BOTH static void differentiate(const Values<V>& values, const V& d, const Wanted& wanted, const Give& give) {
    if constexpr (differentiable)
      if (wanted(StaticIndex<First>{}, StaticIndex<First + leaves>{}))
        differentiate_of<First>(values, d, wanted, give, std::index_sequence_for<E...>{});
  }
  template <int First, class Visit>
  static void for_each_leaf(const Apply<F, E...>& apply, const Visit& visit) {
    for_each_index<static_cast<int>(sizeof...(E))>([&]<int I>(StaticIndex<I>) {
      const auto& child = get<I>(apply.of);
      ExpressionNode<std::remove_cvref_t<decltype(child)>>::template for_each_leaf<First + before(I)>(child, visit);
    });
  }

 private:
  ATTN_BOTH static constexpr int before(std::size_t index) {  // number of leaves of the preceding arguments
    const int counts[] = {ExpressionNode<E>::leaves...};
    int sum = 0;
    for (std::size_t i = 0; i < index; ++i) sum += counts[i];
    return sum;
  }
  template <int First, class V, class Read, std::size_t... I>
  ATTN_BOTH static Values<V> values_of(const Read& read, std::index_sequence<I...>) {
    Values<V> result;
    ((get<static_cast<int>(I)>(result.of) = ExpressionNode<E>::template values<First + before(I), V>(read)), ...);
    result.value = F::value(get<static_cast<int>(I)>(result.of).value...);
    return result;
  }
  template <int First, class V, class Wanted, class Give, std::size_t... I>
  ATTN_BOTH static void differentiate_of(const Values<V>& values, const V& d, const Wanted& wanted, const Give& give,
                                         std::index_sequence<I...>) {
    const auto partials = derivatives<F>(values.value, get<static_cast<int>(I)>(values.of).value...);
    (differentiate_child<E, First + before(I)>(get<static_cast<int>(I)>(values.of), d, partials.by[I], wanted, give), ...);
  }
  template <class Child, int First, class V, class Wanted, class Give>
  ATTN_BOTH static void differentiate_child(const typename ExpressionNode<Child>::template Values<V>& values, const V& d,
                                            const V& partial, const Wanted& wanted, const Give& give) {
    if constexpr (ExpressionNode<Child>::differentiable)
      ExpressionNode<Child>::template differentiate<First, V>(values, d * partial, wanted, give);
  }
};

/// The leaves of an expression, from left to right.
template <class E>
typename ExpressionNode<E>::Leaves::Leaves leaves_of(const E& expression) {
  typename ExpressionNode<E>::Leaves::Leaves leaves;
  ExpressionNode<E>::template for_each_leaf<0>(expression,
                                               [&]<int I>(StaticIndex<I>, const auto& leaf) { get<I>(leaves) = leaf; });
  return leaves;
}

/// The destinations of the gradients of `Count` leaves.
template <int Count>
struct GradientPlan {
  int target[Count];  // the first leaf with the same memory, which stores the sum; -1: no gradient
  bool add[Count];    // of targets: add to the existing values
  bool repeated = false;

  ATTN_BOTH bool stores(int leaf) const { return target[leaf] == leaf; }
  /// Whether one of the leaves in [first, end) wants a gradient.
  bool wanted(int first, int end) const {
    for (int i = first; i < end; ++i)
      if (target[i] >= 0) return true;
    return false;
  }
};

template <class Types, class Leaves>
GradientPlan<Types::count> plan_gradients(const Leaves& leaves) {
  constexpr int kCount = Types::count;
  GradientPlan<kCount> plan;
  const void* places[kCount];
  LeafKind kinds[kCount];
  for_each_index<kCount>([&]<int I>(StaticIndex<I>) {
    kinds[I] = Types::template kind<I>();
    places[I] = nullptr;
    plan.add[I] = true;
    if constexpr (Types::template kind<I>() == LeafKind::row) {
      places[I] = get<I>(leaves).gradient;
    } else if constexpr (Types::template kind<I>() != LeafKind::none) {
      places[I] = get<I>(leaves).gradient.to.data;
      plan.add[I] = get<I>(leaves).gradient.add;
    }
  });
  for (int i = 0; i < kCount; ++i) {
    plan.target[i] = places[i] == nullptr ? -1 : i;
    for (int j = 0; j < i && plan.target[i] == i; ++j)
      if (places[j] == places[i] && kinds[j] == kinds[i]) {
        plan.target[i] = j;
        plan.add[j] = plan.add[j] && plan.add[i];
        plan.repeated = true;
      }
  }
  // An activation of width 1 can be a dense leaf and a column. Dense gradients are stored first.
  for (int i = 0; i < kCount; ++i)
    for (int j = 0; j < kCount; ++j)
      if (plan.stores(i) && plan.stores(j) && kinds[i] == LeafKind::dense && kinds[j] == LeafKind::column &&
          places[i] == places[j]) {
        plan.add[i] = plan.add[i] && plan.add[j];
        plan.add[j] = true;
      }
  return plan;
}

/// Whether a leaf of this kind stores a gradient.
template <class Types>
bool stores_kind(const GradientPlan<Types::count>& plan, LeafKind kind) {
  bool found = false;
  for_each_index<Types::count>(
      [&]<int I>(StaticIndex<I>) { found = found || (Types::template kind<I>() == kind && plan.stores(I)); });
  return found;
}

/// Adds the contributions of leaves that share memory to the first of them.
template <class Types, class V>
ATTN_BOTH void add_repeated(const GradientPlan<Types::count>& plan, V (&gradients)[Types::count]) {
  if (!plan.repeated) return;
  for_each_index<Types::count>([&]<int I>(StaticIndex<I>) {
    if constexpr (Types::template kind<I>() != LeafKind::none)
      for_each_index<I>([&]<int J>(StaticIndex<J>) {
        if constexpr (Types::template kind<J>() == Types::template kind<I>())
          if (plan.target[I] == J) gradients[J] = gradients[J] + gradients[I];
      });
  });
}

}  // namespace attn
