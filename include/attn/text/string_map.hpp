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

/// A map from strings that can be asked about a view without making a string of it.
template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

}  // namespace attn::detail
