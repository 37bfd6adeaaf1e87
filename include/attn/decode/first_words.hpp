#pragma once
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// What a decoder reads first: where its state says so, what the state says (a language model's: the last word of each prompt),
/// else the begin token.
template <class State>
std::vector<Token> first_words(const State& state, Token begin) {
  if constexpr (requires { state.first_words(); })
    return state.first_words();
  else
    return std::vector<Token>(state.alive().size(), begin);
}

}  // namespace attn
