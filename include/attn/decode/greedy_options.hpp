#pragma once
#include "attn/core/types.hpp"

namespace attn {

struct GreedyOptions {
  Token begin = 0, end = 0;  // what every translation begins and ends with; neither is part of it
  Index limit = 256;         // words
  Token never = -1;          // a word that no translation holds, such as the one that stands for unknown ones; or none
};

}  // namespace attn
