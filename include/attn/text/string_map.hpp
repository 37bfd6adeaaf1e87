#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace attn::detail {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// A map with string keys that supports lookup by string_view without a copy.
template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

}  // namespace attn::detail
