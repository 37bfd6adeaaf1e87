#include "attn/checkpoint/json_text.hpp"

#include <doctest/doctest.h>

using namespace attn;

TEST_CASE("json text: prints one line or indented text in object order and tolerates invalid UTF-8") {
  CHECK(json_text({{"b", 1}, {"a", {1, 2}}}) == R"({"a":[1,2],"b":1})");
  CHECK(json_text(nlohmann::ordered_json{{"b", 1}, {"a", 2}}) == R"({"b":1,"a":2})");
  CHECK(json_text(nlohmann::json{{"a", 1}}, 1) == "{\n \"a\": 1\n}");
  CHECK(json_text(nlohmann::json("sch\xf6n")) == "\"sch\xEF\xBF\xBDn\"");
}
