#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "attn/core/error.hpp"

namespace attn {

/// The JSON of a text; discarded where it is none, or nests lists deeper than any file of attn's: what copies or prints JSON
/// calls itself at each level, and a file must not decide how deep. The text's first wrong byte comes back in `wrong`.
inline nlohmann::json parse_json(std::string_view text, std::size_t* wrong = nullptr) {
  using nlohmann::json;
  constexpr int deepest = 64;
  bool deep = false;
  const auto check = [&](int depth, json::parse_event_t, json&) {
    deep = deep || depth > deepest;
    return !deep;
  };
  try {
    json value = json::parse(text, check);
    return deep ? json(json::value_t::discarded) : value;
  } catch (const json::parse_error& error) {
    if (wrong != nullptr) *wrong = error.byte;
  } catch (const json::exception&) {  // a number that no computer holds
  }
  return json::value_t::discarded;
}

/// An entry of an object that counts something: a whole number from `least` on. Others are an Error that `where` begins.
inline std::int64_t json_count(const nlohmann::json& object, const char* name, std::int64_t least, std::string_view where) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  require(found != object.end() && found->is_number_integer() &&
              (!found->is_number_unsigned() || found->get<std::uint64_t>() <= INT64_MAX) &&
              found->get<std::int64_t>() >= least,
          where, ": its '", name, "' is missing or not a whole number of at least ", least);
  return found->get<std::int64_t>();
}

}  // namespace attn
