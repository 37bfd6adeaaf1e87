#pragma once
#include "attn/tape/expression.hpp"

namespace attn {

// Operators and functions on activations, element by element. Each makes an expression (tape/expression.hpp).

template <class A, class B>
requires Operands<A, B>
auto operator+(const A& a, const B& b) { return apply<functions::Add>(a, b); }
template <class A, class B>
requires Operands<A, B>
auto operator-(const A& a, const B& b) { return apply<functions::Subtract>(a, b); }
template <class A, class B>
requires Operands<A, B>
auto operator*(const A& a, const B& b) { return apply<functions::Multiply>(a, b); }
template <class A, class B>
requires Operands<A, B>
auto operator/(const A& a, const B& b) { return apply<functions::Divide>(a, b); }
template <class A>
requires Operands<A>
auto operator-(const A& a) { return apply<functions::Negate>(a); }

// Comparisons are 1 or 0, for where().
template <class A, class B>
requires Operands<A, B>
auto operator<(const A& a, const B& b) { return apply<functions::Less>(a, b); }
template <class A, class B>
requires Operands<A, B>
auto operator<=(const A& a, const B& b) { return apply<functions::LessEqual>(a, b); }
template <class A, class B>
requires Operands<A, B>
auto operator>(const A& a, const B& b) { return apply<functions::Greater>(a, b); }
template <class A, class B>
requires Operands<A, B>
auto operator>=(const A& a, const B& b) { return apply<functions::GreaterEqual>(a, b); }

template <class A>
requires Operands<A>
auto exp(const A& a) { return apply<functions::Exp>(a); }
template <class A>
requires Operands<A>
auto log(const A& a) { return apply<functions::Log>(a); }
template <class A>
requires Operands<A>
auto sqrt(const A& a) { return apply<functions::Sqrt>(a); }
template <class A>
requires Operands<A>
auto abs(const A& a) { return apply<functions::Abs>(a); }
template <class A>
requires Operands<A>
auto tanh(const A& a) { return apply<functions::Tanh>(a); }
template <class A>
requires Operands<A>
auto sigmoid(const A& a) { return apply<functions::Sigmoid>(a); }
template <class A>
requires Operands<A>
auto relu(const A& a) { return apply<functions::Relu>(a); }
/// GELU in its tanh form, as GPT-2 has it.
template <class A>
requires Operands<A>
auto gelu(const A& a) { return apply<functions::Gelu>(a); }
/// GELU with the error function, torch.nn.GELU's default.
template <class A>
requires Operands<A>
auto gelu_exact(const A& a) { return apply<functions::GeluExact>(a); }
/// x sigmoid(x), also called Swish.
template <class A>
requires Operands<A>
auto silu(const A& a) { return apply<functions::Silu>(a); }
template <class A>
requires Operands<A>
auto softplus(const A& a) { return apply<functions::Softplus>(a); }
template <class A>
requires Operands<A>
auto square(const A& a) { return apply<functions::Square>(a); }

template <class A, class B>
requires Operands<A, B>
auto max(const A& a, const B& b) { return apply<functions::Max>(a, b); }
template <class A, class B>
requires Operands<A, B>
auto min(const A& a, const B& b) { return apply<functions::Min>(a, b); }
template <class A>
requires Operands<A>
auto max(const A& a, const A& b) { return apply<functions::Max>(a, b); }
template <class A>
requires Operands<A>
auto min(const A& a, const A& b) { return apply<functions::Min>(a, b); }

/// a where the condition is not 0, else b: where(x > 0, x, 0.1 * x). The condition gets no gradient.
template <class C, class A, class B>
requires Operands<C, A, B>
auto where(const C& condition, const A& a, const B& b) { return apply<functions::Where>(condition, a, b); }

/// Each element is 0 with probability `rate`, else scaled by 1 / (1 - rate), on a tape that applies dropout; x itself on other
/// tapes. torch.nn.Dropout.
template <Activation X>
auto dropout(const X& x, float rate) {
  Tape<typename X::DeviceType>* tape = nullptr;
  expression_detail::for_each_leaf(x, [&](const auto& leaf) {
    if constexpr (expression_detail::is_variable<std::remove_cvref_t<decltype(leaf)>>)
      if (tape == nullptr || leaf.tape().number > tape->number) tape = &leaf.tape();
  });
  require(tape != nullptr, "dropout: an expression without an activation has no rows");
  return apply<functions::Multiply>(x, DropoutMask{tape->dropout(rate)});
}

}  // namespace attn
