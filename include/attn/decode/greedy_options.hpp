#pragma once
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

struct GreedyOptions {
  Token begin = 0, end = 0;       // what every translation begins and ends with; neither is part of it
  Index limit = 256;              // words
  Token never = -1;               // a word that no translation holds, such as the one that stands for unknown ones; or none
  std::vector<Token> among = {};  // the words that translations are made of, rising, the end among them; none: all
};

}  // namespace attn
