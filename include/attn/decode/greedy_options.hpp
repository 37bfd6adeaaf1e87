#pragma once
#include "attn/core/types.hpp"

namespace attn {

struct GreedyOptions {
  Token begin = 0, end = 0;                // first and last token of every translation; part of neither
  Index limit = 256;                       // tokens
  Token never = -1;                        // a token that no translation contains, such as the unknown token; -1: none
  std::vector<Token> allowed_tokens = {};  // the only tokens allowed, ascending, with `end`; empty: all
};

}  // namespace attn
