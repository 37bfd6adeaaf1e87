#pragma once
#include <limits>

#include "attn/core/types.hpp"

namespace attn {

/// How many tokens a model can write at most, such as one that has learned so many positions.
template <class Model>
constexpr Index longest_translation() {
  if constexpr (requires { Model::longest_text; })
    return Model::longest_text;
  else
    return std::numeric_limits<Index>::max();
}

}  // namespace attn
