#pragma once
#include "attn/ops/number.hpp"

// Functions of numbers, as types for expressions (ops/expression.hpp). A function is a struct with
//
//   template <class T> static T value(T x, ...)    for any Number T, written with the functions of ops/number.hpp
//   template <class T> static T derivative(T x)    optional; of N arguments: std::array<T, N> derivative(T a, T b, ...)
//
// A function without `derivative` is differentiated with dual numbers, one pass per argument. Mark functions for the GPU
// with ATTN_BOTH. The library's own functions take their result as the last argument of `derivative`.

namespace attn {

/// The derivatives of a function with respect to its N arguments.
template <class T, int N>
struct Partials {
  T by[N];
};

namespace functions {

/// One pass per argument: argument I has slope 1, all others are constants.
template <class F, std::size_t I, class T, std::size_t... J>
ATTN_BOTH T slope_by(const Partials<T, static_cast<int>(sizeof...(J))>& x, std::index_sequence<J...>) {
  return F::value(Dual<T>(x.by[J], T(I == J ? 1 : 0))...).slope;
}
template <class F, class T, std::size_t... I>
ATTN_BOTH auto slopes(const Partials<T, static_cast<int>(sizeof...(I))>& x, std::index_sequence<I...> all) {
  return Partials<T, static_cast<int>(sizeof...(I))>{{slope_by<F, I>(x, all)...}};
}

/// Converts the result of `derivative`: a number, Partials, or std::array, whose operator[] device code cannot call.
template <class T, int N, class Result>
ATTN_BOTH Partials<T, N> partials_of(const Result& result) {
  if constexpr (std::is_same_v<Result, Partials<T, N>>) {
    return result;
  } else if constexpr (std::is_convertible_v<Result, T>) {
    static_assert(N == 1, "attn: a function of several arguments returns an array of derivatives");
    return {{result}};
  } else {
    static_assert(sizeof(Result) == N * sizeof(T),
                  "attn: a function of N arguments returns std::array<T, N> as derivative");
    Partials<T, N> partials;
    for (int i = 0; i < N; ++i) partials.by[i] = reinterpret_cast<const T*>(&result)[i];
    return partials;
  }
}

/// The base of functions that have a `derivative` of their arguments and their result.
struct OwnDerivative {};

/// Whether F::derivative takes these arguments.
template <class F, class... X>
concept HasDerivative = requires(const X&... x) {
  F::derivative(x...);
};

}  // namespace functions

/// The derivatives of F at x..., where y = F(x...).
template <class F, class T, class... X>
ATTN_BOTH Partials<T, static_cast<int>(sizeof...(X))> derivatives(const T& y, const X&... x) {
  constexpr int kCount = static_cast<int>(sizeof...(X));
  // nvcc 13.0 evaluates a requires-expression in this place to false in large files. The concept is reliable.
  static_assert(functions::HasDerivative<F, X..., T> || !std::is_base_of_v<functions::OwnDerivative, F>);
  if constexpr (functions::HasDerivative<F, X..., T>)
    return functions::partials_of<T, kCount>(F::derivative(x..., y));
  else if constexpr (functions::HasDerivative<F, X...>)
    return functions::partials_of<T, kCount>(F::derivative(x...));
  else
    return functions::slopes<F, T>(Partials<T, kCount>{{x...}}, std::index_sequence_for<X...>{});
}

/// Whether F's derivatives are 0 everywhere.
template <class F>
inline constexpr bool is_constant = requires {
  requires F::constant;
};

#define ATTN_UNARY(Name, VALUE, DERIVATIVE)                                     \
  struct Name : functions::OwnDerivative {                                      \
    template <class T>                                                          \
    ATTN_BOTH static T value(T x) {                                             \
      return VALUE;                                                             \
    }                                                                           \
    template <class T>                                                          \
    ATTN_BOTH static T derivative([[maybe_unused]] T x, [[maybe_unused]] T y) { \
      return DERIVATIVE;                                                        \
    }                                                                           \
  }
#define ATTN_BINARY(Name, VALUE, BY_A, BY_B)                                                                       \
  struct Name : functions::OwnDerivative {                                                                         \
    template <class T>                                                                                             \
    ATTN_BOTH static T value(T a, T b) {                                                                           \
      return VALUE;                                                                                                \
    }                                                                                                              \
    template <class T>                                                                                             \
    ATTN_BOTH static Partials<T, 2> derivative([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T y) { \
      return {{BY_A, BY_B}};                                                                                       \
    }                                                                                                              \
  }
#define ATTN_COMPARISON(Name, OPERATOR)       \
  struct Name {                               \
    static constexpr bool constant = true;    \
    template <class T>                        \
    ATTN_BOTH static T value(T a, T b) {      \
      return where(a OPERATOR b, T(1), T(0)); \
    }                                         \
  }

namespace functions {

ATTN_BINARY(Add, a + b, T(1), T(1));
ATTN_BINARY(Subtract, a - b, T(1), T(-1));
ATTN_BINARY(Multiply, a* b, b, a);
ATTN_BINARY(Divide, a / b, T(1) / b, -y / b);
// At ties each argument gets half of the gradient, as in torch.maximum.
ATTN_BINARY(Max, maximum(a, b), where(a == b, T(0.5), where(a < b, T(0), T(1))),
            where(a == b, T(0.5), where(b < a, T(0), T(1))));
ATTN_BINARY(Min, minimum(a, b), where(a == b, T(0.5), where(b < a, T(0), T(1))),
            where(a == b, T(0.5), where(a < b, T(0), T(1))));

ATTN_COMPARISON(Less, <);
ATTN_COMPARISON(LessEqual, <=);
ATTN_COMPARISON(Greater, >);
ATTN_COMPARISON(GreaterEqual, >=);

ATTN_UNARY(Negate, -x, T(-1));
ATTN_UNARY(Exp, exp(x), y);
ATTN_UNARY(Log, log(x), T(1) / x);
ATTN_UNARY(Log1p, log1p(x), T(1) / (T(1) + x));
ATTN_UNARY(Sqrt, sqrt(x), T(0.5) / y);
ATTN_UNARY(Abs, abs(x), where(x > T(0), T(1), where(x < T(0), T(-1), T(0))));
ATTN_UNARY(Tanh, tanh(x), T(1) - y * y);
ATTN_UNARY(Sigmoid, sigmoid(x), y*(T(1) - y));
ATTN_UNARY(Relu, relu(x), where(x > T(0), T(1), T(0)));
ATTN_UNARY(Softplus, softplus(x), sigmoid(x));
ATTN_UNARY(Square, x* x, x + x);
ATTN_UNARY(Erf, erf(x), T(1.1283791670955126) * exp(-x * x));  // 2/√π exp(-x²)
ATTN_UNARY(Reciprocal, reciprocal(x), -y* y);

template <class T>
ATTN_BOTH T silu_derivative(T x) {
  const T s = sigmoid(x);
  return s * (T(1) + x * (T(1) - s));
}
ATTN_UNARY(Silu, silu(x), silu_derivative(x));

/// The derivative of the tanh approximation of GELU.
template <class T>
ATTN_BOTH T gelu_derivative(T x) {
  using namespace gelu_numbers;
  const T near = maximum(minimum(x, T(flat)), T(-flat)), t = tanh_in_gelu(near);  // the cube of a huge x overflows
  return T(0.5) * (T(1) + t + near * (T(1) - t * t) * T(slope) * (T(1) + T(3 * cube) * near * near));
}
ATTN_UNARY(Gelu, gelu(x), gelu_derivative(x));

template <class T>
ATTN_BOTH T gelu_exact_derivative(T x) {
  using namespace gelu_numbers;
  const T density_at_x = T(density) * exp(T(-0.5) * x * x);
  return T(0.5) * (T(1) + erf(x * T(root_half))) + x * density_at_x;
}
ATTN_UNARY(GeluExact, gelu_exact(x), gelu_exact_derivative(x));

/// condition != 0 ? a : b. The condition gets no gradient.
struct Where {
  template <class T>
  ATTN_BOTH static T value(T condition, T a, T b) {
    return where(condition != T(0), a, b);
  }
};

}  // namespace functions

#undef ATTN_UNARY
#undef ATTN_BINARY
#undef ATTN_COMPARISON

// Math functions of dual numbers. They name their derivatives: derivatives() could take the path with dual numbers, and so
// call itself.

namespace functions {
template <class F, class T>
ATTN_BOTH Dual<T> dual(const Dual<T>& x) {
  const T y = F::value(x.value);
  return {y, F::derivative(x.value, y) * x.slope};
}
}  // namespace functions

#define ATTN_DUAL(name, Name)                   \
  template <class T>                            \
  ATTN_BOTH Dual<T> name(const Dual<T>& x) {    \
    return functions::dual<functions::Name>(x); \
  }
ATTN_DUAL(exp, Exp)
ATTN_DUAL(log, Log)
ATTN_DUAL(log1p, Log1p)
ATTN_DUAL(sqrt, Sqrt)
ATTN_DUAL(abs, Abs)
ATTN_DUAL(tanh, Tanh)
ATTN_DUAL(erf, Erf)
ATTN_DUAL(reciprocal, Reciprocal)
ATTN_DUAL(relu, Relu)
ATTN_DUAL(sigmoid, Sigmoid)
ATTN_DUAL(silu, Silu)
ATTN_DUAL(softplus, Softplus)
ATTN_DUAL(gelu, Gelu)
ATTN_DUAL(gelu_exact, GeluExact)
#undef ATTN_DUAL

template <class T>
ATTN_BOTH Dual<T> maximum(const Dual<T>& a, const Dual<T>& b) {
  const T y = maximum(a.value, b.value);
  const auto partials = functions::Max::derivative(a.value, b.value, y);
  return {y, partials.by[0] * a.slope + partials.by[1] * b.slope};
}
template <class T>
ATTN_BOTH Dual<T> minimum(const Dual<T>& a, const Dual<T>& b) {
  const T y = minimum(a.value, b.value);
  const auto partials = functions::Min::derivative(a.value, b.value, y);
  return {y, partials.by[0] * a.slope + partials.by[1] * b.slope};
}

}  // namespace attn
