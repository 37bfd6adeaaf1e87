#pragma once
#include <cstdint>

namespace attn {

using Index = std::int64_t;  // counts and offsets of elements
using Token = std::int32_t;  // an id of a vocabulary

}  // namespace attn
