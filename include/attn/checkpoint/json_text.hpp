#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace attn {

/// Dumps JSON on one line, or indented by `indent` spaces per level. Replaces invalid UTF-8 by U+FFFD.
template <class Json = nlohmann::json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attn
