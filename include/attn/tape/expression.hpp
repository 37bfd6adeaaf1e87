#pragma once
#include "attn/ops/expression.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

// Arithmetic on activations. Expressions are lazy, as in Eigen: nothing runs until one becomes a Variable, by assignment or
// as a layer's argument. One kernel computes the value, and one the gradients; the latter recomputes intermediate values.
//
//     Variable<Device> y = x + sigmoid(gate) * f(x);
//
// Operands: activations of one shape, columns (Variable<Device, 1>, one number per row), learned vectors and scalars
// (Parameter, one number per column or a single one) and numbers. An expression used twice is computed twice: assign it to
// a Variable first.

template <int Width, class F, class... E>
struct Expression;
template <int Width, class F, class... E>
inline constexpr bool is_expression<Expression<Width, F, E...>> = true;

namespace expression_detail {

inline constexpr int any_width = 0;  // of a number, a learned vector or a mask: takes the width of the other operands

template <class T>
inline constexpr bool is_variable = false;
template <class Device, int Width>
inline constexpr bool is_variable<Variable<Device, Width>> = true;
template <class T>
inline constexpr bool is_parameter = false;
template <class Device>
inline constexpr bool is_parameter<Parameter<Device>> = true;

template <class T>
constexpr int width_of() {
  if constexpr (is_variable<T> || is_expression<T>)
    return T::width;
  else
    return any_width;
}

/// The common width of operands: columns and operands of any width take the width of the others.
template <class... T>
constexpr int common_width() {
  int width = any_width;
  for (const int one : {width_of<T>()...})
    if (width == any_width || width == 1 || (width == dynamic && one > 1)) width = one == any_width ? width : one;
  return width;
}
template <class... T>
constexpr bool same_widths() {
  const int width = common_width<T...>();
  for (const int one : {width_of<T>()...})
    if (one > 1 && width > 1 && one != width) return false;
  return true;
}

/// The stored form of an operand: without its static width unless it is a column, so that one kernel serves all widths.
template <class T>
auto kept(const T& operand) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(operand);
  else if constexpr (is_variable<T> && width_of<T>() != 1)
    return Variable<typename T::DeviceType>(operand);
  else
    return operand;
}
template <class T>
using Kept = decltype(kept(std::declval<const T&>()));

template <class T, class Visit>
void for_each_leaf(const T& operand, const Visit& visit) {
  if constexpr (is_expression<T>)
    operand.for_each_leaf(visit);
  else
    visit(operand);
}

/// The device of the first operand that has one.
template <class First, class... Rest>
constexpr auto device_of() {
  if constexpr (requires { typename First::DeviceType; })
    return std::type_identity<typename First::DeviceType>();
  else
    return device_of<Rest...>();
}

}  // namespace expression_detail

/// An activation or an expression of activations.
template <class T>
concept Activation = expression_detail::is_variable<T> || is_expression<T>;
template <class T>
concept Operand =
    Activation<T> || expression_detail::is_parameter<T> || std::same_as<T, DropoutMask> || std::is_arithmetic_v<T>;
template <class T>
concept Term = Operand<T> && !std::is_arithmetic_v<T>;
/// The operands of one function; at least one is not a number.
template <class... T>
concept Operands = (Operand<T> && ...) && ((!std::is_arithmetic_v<T>) || ...);
template <class B, class A>
concept OperandWith = Operands<A, B>;

template <int Width, class F, class... E>
struct Expression {
  static constexpr int width = Width == expression_detail::any_width ? dynamic : Width;
  using DeviceType = typename decltype(expression_detail::device_of<E...>())::type;

  Tuple<E...> of;

  /// Computes the expression now, like assigning it to a Variable.
  Variable<DeviceType> evaluate() const {
    using Device = DeviceType;
    if constexpr (is_dropped_variable)
      if (get<1>(of).pending == nullptr) return get<0>(of);
    const Shape shape = check();
    for_each_leaf([](const auto& x) {
      if constexpr (std::is_same_v<decltype(x), const DropoutMask&>) x.dropout();
    });
    Tape<Device>& tape = *shape.tape;
    Variable<Device> y = tape.make_result(shape.rows, shape.cols, shape.learns);
    evaluate_expression(tape.device, ExpressionArgs<Device, decltype(op(nullptr))>{op(nullptr), y.value});
    tape.on_backward(y, [self = *this](Tape<Device>& back, auto dy) {
      self.begin_gradients(back);
      evaluate_expression_gradient(back.device, ExpressionGradientArgs<Device, decltype(op(nullptr))>{self.op(&back), dy});
    });
    return y;
  }

  void for_each_leaf(const auto& visit) const {
    for_each_index<int(sizeof...(E))>(
        [&](auto i) { expression_detail::for_each_leaf(get<decltype(i)::value>(of), visit); });
  }

  /// The expression for the op; with a tape, with the destinations of its gradients.
  auto op(Tape<DeviceType>* back) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Apply<F, decltype(leaf(get<static_cast<int>(I)>(of), back))...>{{leaf(get<static_cast<int>(I)>(of), back)...}};
    }
    (std::index_sequence_for<E...>{});
  }

 private:
  struct Shape {
    Index rows = -1, cols = -1;
    Tape<DeviceType>* tape = nullptr;
    bool learns = false;
  };

  static constexpr bool is_dropped_variable =
      std::is_same_v<Expression, Expression<Width, functions::Multiply, Variable<DeviceType>, DropoutMask>> ||
      std::is_same_v<Expression, Expression<Width, functions::Multiply, Variable<DeviceType, 1>, DropoutMask>>;

  /// If an activation and a slice of it are both leaves, their gradients share memory: zero it first, then add both.
  void begin_gradients(Tape<DeviceType>& back) const {
    for_each_slot([&](GradientSlot<DeviceType>* part) {
      if (part->of == nullptr) return;
      for_each_slot([&](GradientSlot<DeviceType>* whole) {
        if (whole != part->of) return;
        const auto sink = back.sink(*whole);
        if (!sink.add) back.device.zero(sink.to);
      });
    });
  }
  void for_each_slot(const auto& visit) const {
    for_each_leaf([&](const auto& x) {
      if constexpr (expression_detail::is_variable<std::remove_cvref_t<decltype(x)>>)
        if (x.slot != nullptr) visit(x.slot);
    });
  }

  template <class Leaf>
  static auto leaf(const Leaf& x, Tape<DeviceType>* back) {
    using Scalar = typename DeviceType::Scalar;
    using Real = typename DeviceType::Real;
    if constexpr (is_expression<Leaf>) {
      return x.op(back);
    } else if constexpr (std::is_same_v<Leaf, double>) {
      return ScalarLeaf{x};
    } else if constexpr (std::is_same_v<Leaf, DropoutMask>) {
      return DropoutLeaf{x.dropout()};
    } else if constexpr (expression_detail::is_parameter<Leaf>) {
      return RowLeaf<Scalar, Real>{x.values(), back != nullptr && x.learns() ? x.gradient : nullptr, x.size() == 1};
    } else if constexpr (Leaf::width == 1) {
      return ColumnLeaf<Scalar>{x.value, back != nullptr ? back->sink(x) : Sink<Scalar>{}};
    } else {
      return DenseLeaf<Scalar>{x.value, back != nullptr ? back->sink(x) : Sink<Scalar>{}};
    }
  }

  /// The shape of the result. Throws an Error if the operands do not fit together.
  Shape check() const {
    Shape shape;
    for_each_leaf([&](const auto& x) {
      using Leaf = std::remove_cvref_t<decltype(x)>;
      if constexpr (expression_detail::is_variable<Leaf>) {
        Tape<DeviceType>& tape = x.tape();
        if (shape.tape == nullptr || tape.number > shape.tape->number) shape.tape = &tape;
        if (shape.rows < 0) shape.rows = x.rows();
        constexpr bool column = Leaf::width == 1;
        const Index cols = std::max<Index>(shape.cols, 1);  // of the preceding operands
        if (!column && shape.cols < 0) shape.cols = x.cols();
        require(x.rows() == shape.rows && (column || x.cols() == shape.cols), "an expression of activations of ",
                shape.rows, " x ", cols, " and ", x.rows(), " x ", x.cols(),
                !column && x.cols() == 1 ? "; to broadcast a column, convert it to Variable<Device, 1>" : "");
        shape.learns = shape.learns || x.slot != nullptr;
      }
    });
    for_each_leaf([&](const auto& x) {
      if constexpr (expression_detail::is_parameter<std::remove_cvref_t<decltype(x)>>) {
        shape.learns = shape.learns || x.learns();
        if (x.size() == 1) return;  // a scalar
        if (shape.cols < 0) shape.cols = x.size();
        require(
            x.size() == shape.cols && (x.cols == 1 || x.rows == 1), "an expression of ", shape.cols,
            " columns with a parameter of ", x.rows, " x ", x.cols,
            "; a learned vector has one number per column, a learned scalar a single one, and variable(tape, parameter) "
            "makes an activation of a matrix");
      }
    });
    require(shape.tape != nullptr,
            "an expression needs at least one activation: numbers and parameters alone have no rows");
    if (shape.cols < 0) shape.cols = 1;
    return shape;
  }
};

/// Applies a function of numbers (ops/functions.hpp, or your own) element-wise: apply<MyFunction>(x, y).
template <class F, class... E>
requires Operands<E...>
auto apply(const E&... operands) {
  static_assert(expression_detail::same_widths<E...>(),
                "attn: widths differ: the activations of an expression have the same width");
  return Expression<expression_detail::common_width<E...>(), F, expression_detail::Kept<E>...>{
      {expression_detail::kept(operands)...}};
}

/// Evaluates an expression; returns a Variable unchanged.
template <Activation X>
Variable<typename X::DeviceType> evaluated(const X& x) {
  if constexpr (is_expression<X>)
    return x.evaluate();
  else
    return x;
}

}  // namespace attn
