#include "attn/checkpoint/json.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/errors.hpp"

using namespace attn;

TEST_CASE("parse json: returns a value or nothing") {
  CHECK(parse_json(R"({"a": [1, 2]})") == nlohmann::json{{"a", {1, 2}}});
  CHECK(parse_json("").is_discarded());
  CHECK(parse_json("1e999").is_discarded());
  std::size_t nul = 0;
  CHECK(parse_json(std::string_view("[1]\0\0", 5), &nul).is_discarded());  // not the end of the text
  CHECK(nul == 4);
  std::size_t wrong = 0;
  CHECK(parse_json(R"({"a": ])", &wrong).is_discarded());
  CHECK(wrong == 7);
}

TEST_CASE("parse json: reads lists nested 64 deep and rejects deeper ones without recursion") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_json(nested(64)).dump() == nested(64));
  CHECK(parse_json(nested(66)).is_discarded());
  CHECK(parse_json(nested(1'000'000)).is_discarded());
}

TEST_CASE("parse json: a count must be a whole number within its limits") {
  const auto value =
      nlohmann::json::parse(R"({"good": 3, "huge": 18446744073709551615, "half": 1.5, "minus": -1, "text": "3"})");
  CHECK(json_count(value, "good", 1, "file") == 3);
  CHECK(json_count(value, "minus", -1, "file") == -1);
  CHECK(error_of([&] { json_count(value, "good", 4, "file"); }) ==
        "file: its 'good' is missing or not a whole number of at least 4");
  for (const char* name : {"huge", "half", "minus", "text", "none"})
    CHECK(contains(error_of([&] { json_count(value, name, 0, "file"); }), "is missing or not a whole number"));
  CHECK(contains(error_of([] { json_count({1, 2}, "good", 0, "file"); }), "is missing"));
}

TEST_CASE("json text: prints one line or indented text in object order and tolerates invalid UTF-8") {
  CHECK(json_text({{"b", 1}, {"a", {1, 2}}}) == R"({"a":[1,2],"b":1})");
  CHECK(json_text(nlohmann::ordered_json{{"b", 1}, {"a", 2}}) == R"({"b":1,"a":2})");
  CHECK(json_text(nlohmann::json{{"a", 1}}, 1) == "{\n \"a\": 1\n}");
  CHECK(json_text(nlohmann::json("sch\xf6n")) == "\"sch\xEF\xBF\xBDn\"");
}
