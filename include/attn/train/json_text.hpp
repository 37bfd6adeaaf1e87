#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace attn {

/// A value as JSON, in one line, or in lines indented by so many spaces a level. What is not UTF-8 in it becomes U+FFFD.
template <class Json = nlohmann::json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attn
