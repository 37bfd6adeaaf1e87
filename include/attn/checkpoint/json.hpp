#pragma once
#include <nlohmann/json.hpp>

#include "attn/core/error.hpp"

namespace attn {

/// Parses JSON; returns a discarded value on errors and beyond 64 levels of nesting. Copying and printing JSON recurse, so
/// a file must not choose the depth. `wrong` receives the position of the first invalid byte.
inline nlohmann::json parse_json(std::string_view text, std::size_t* wrong = nullptr) {
  using nlohmann::json;
  constexpr int deepest = 64;
  bool deep = false;
  if (const std::size_t nul = text.find('\0'); nul != text.npos) {  // the parser would stop at it
    if (wrong != nullptr) *wrong = nul + 1;
    return json::value_t::discarded;
  }
  const auto check = [&](int depth, json::parse_event_t, json&) {
    deep = deep || depth > deepest;
    return !deep;
  };
  try {
    json value = json::parse(text, check);
    return deep ? json(json::value_t::discarded) : value;
  } catch (const json::parse_error& error) {
    if (wrong != nullptr) *wrong = error.byte;
  } catch (const json::exception&) {  // a number out of range
  }
  return json::value_t::discarded;
}

/// An integer member of an object, at least `least`; otherwise throws an Error that begins with `where`.
inline std::int64_t json_count(const nlohmann::json& object, const char* name, std::int64_t least, std::string_view where) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  require(found != object.end() && found->is_number_integer() &&
              (!found->is_number_unsigned() || found->get<std::uint64_t>() <= INT64_MAX) &&
              found->get<std::int64_t>() >= least,
          where, ": its '", name, "' is missing or not a whole number of at least ", least);
  return found->get<std::int64_t>();
}

/// Dumps JSON on one line, or indented by `indent` spaces per level. Replaces invalid UTF-8 by U+FFFD.
template <class Json = nlohmann::json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attn
