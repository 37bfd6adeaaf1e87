#pragma once
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// All hypotheses of a sentence that a beam search looked at: of each live one its k likeliest continuations.
struct SearchTree {
  enum class Fate { dropped, live, complete, limit };  // the limit came before its end

  struct Node {
    Index parent;            // or -1 of the root, which has no token
    Token token;             // the newest
    double log_probability;  // of all so far
    Fate fate;
    bool best = false;  // on the way to the hypothesis that was chosen
  };

  std::vector<Node> nodes;  // parents first
};

}  // namespace attn
