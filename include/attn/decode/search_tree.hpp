#pragma once
#include "attn/core/types.hpp"

namespace attn {

/// All hypotheses of a sentence that beam search considered: the k best continuations of each live one.
struct SearchTree {
  enum class Fate { dropped, live, complete, limit };  // limit: reached before its end token

  struct Node {
    Index parent;            // -1 for the root, whose token is the begin token
    Token token;             // the newest
    double log_probability;  // of the hypothesis up to this node
    Fate fate;
    bool best = false;  // on the path to the returned hypothesis
  };

  std::vector<Node> nodes;  // parents first
};

}  // namespace attn
