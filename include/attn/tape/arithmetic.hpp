#pragma once
#include "attn/tape/expression.hpp"

namespace attn {

// Element-wise operators and functions on activations. Each returns an expression (tape/expression.hpp).

template <class A, OperandWith<A> B>
auto operator+(const A& a, const B& b) {
  return apply<functions::Add>(a, b);
}
template <class A, OperandWith<A> B>
auto operator-(const A& a, const B& b) {
  return apply<functions::Subtract>(a, b);
}
template <class A, OperandWith<A> B>
auto operator*(const A& a, const B& b) {
  return apply<functions::Multiply>(a, b);
}
template <class A, OperandWith<A> B>
auto operator/(const A& a, const B& b) {
  return apply<functions::Divide>(a, b);
}
auto operator-(const Term auto& a) { return apply<functions::Negate>(a); }

// Comparisons give 1 or 0, for where().
template <class A, OperandWith<A> B>
auto operator<(const A& a, const B& b) {
  return apply<functions::Less>(a, b);
}
template <class A, OperandWith<A> B>
auto operator<=(const A& a, const B& b) {
  return apply<functions::LessEqual>(a, b);
}
template <class A, OperandWith<A> B>
auto operator>(const A& a, const B& b) {
  return apply<functions::Greater>(a, b);
}
template <class A, OperandWith<A> B>
auto operator>=(const A& a, const B& b) {
  return apply<functions::GreaterEqual>(a, b);
}

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

template <class A, OperandWith<A> B>
auto max(const A& a, const B& b) {
  return apply<functions::Max>(a, b);
}
template <class A, OperandWith<A> B>
auto min(const A& a, const B& b) {
  return apply<functions::Min>(a, b);
}
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
