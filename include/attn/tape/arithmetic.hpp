#pragma once
#include "attn/tape/expression.hpp"

namespace attn {

// Element-wise operators and functions on activations. Each returns an expression (tape/expression.hpp).

#define ATTN_BINARY(name, Function)          \
  template <class A, OperandWith<A> B>       \
  auto name(const A& a, const B& b) {        \
    return apply<functions::Function>(a, b); \
  }
ATTN_BINARY(operator+, Add)
ATTN_BINARY(operator-, Subtract)
ATTN_BINARY(operator*, Multiply)
ATTN_BINARY(operator/, Divide)
ATTN_BINARY(max, Max)
ATTN_BINARY(min, Min)
// Comparisons give 1 or 0, for where().
ATTN_BINARY(operator<, Less)
ATTN_BINARY(operator<=, LessEqual)
ATTN_BINARY(operator>, Greater)
ATTN_BINARY(operator>=, GreaterEqual)
#undef ATTN_BINARY

auto operator-(const Term auto& a) { return apply<functions::Negate>(a); }
auto exp(const Term auto& a) { return apply<functions::Exp>(a); }
auto log(const Term auto& a) { return apply<functions::Log>(a); }
auto sqrt(const Term auto& a) { return apply<functions::Sqrt>(a); }
auto abs(const Term auto& a) { return apply<functions::Abs>(a); }
auto tanh(const Term auto& a) { return apply<functions::Tanh>(a); }
auto sigmoid(const Term auto& a) { return apply<functions::Sigmoid>(a); }
auto relu(const Term auto& a) { return apply<functions::Relu>(a); }
/// The tanh approximation of GELU, as in GPT-2.
auto gelu(const Term auto& a) { return apply<functions::Gelu>(a); }
/// Exact GELU, with the error function; the default of torch.nn.GELU.
auto gelu_exact(const Term auto& a) { return apply<functions::GeluExact>(a); }
/// x sigmoid(x), also called Swish.
auto silu(const Term auto& a) { return apply<functions::Silu>(a); }
auto softplus(const Term auto& a) { return apply<functions::Softplus>(a); }
auto square(const Term auto& a) { return apply<functions::Square>(a); }

// As good as the templates of std that take two arguments of one type.
template <Term A>
auto max(const A& a, const A& b) {
  return apply<functions::Max>(a, b);
}
template <Term A>
auto min(const A& a, const A& b) {
  return apply<functions::Min>(a, b);
}

/// a where the condition is not 0, else b: where(x > 0, x, 0.1 * x). The condition gets no gradient.
template <class C, class A, class B>
requires Operands<C, A, B>
auto where(const C& condition, const A& a, const B& b) { return apply<functions::Where>(condition, a, b); }

/// torch.nn.Dropout: zeroes each element with probability `rate` and scales the others by 1 / (1 - rate). On a tape without
/// dropout it is the identity.
template <Activation X>
auto dropout(const X& x, float rate) {
  Tape<typename X::DeviceType>* tape = nullptr;
  expression_detail::for_each_leaf(x, [&](const auto& leaf) {
    if constexpr (expression_detail::is_variable<std::remove_cvref_t<decltype(leaf)>>)
      if (tape == nullptr || leaf.tape().number > tape->number) tape = &leaf.tape();
  });
  require(tape != nullptr, "dropout: an expression without an activation has no rows");
  return apply<functions::Multiply>(x, tape->dropout_mask(rate));
}

}  // namespace attn
