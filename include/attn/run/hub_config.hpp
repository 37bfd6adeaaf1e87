#pragma once
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "attn/checkpoint/parse_json.hpp"
#include "attn/core/error.hpp"
#include "attn/core/file.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Reads config.json or generation_config.json of Hugging Face. A missing or null member has the value `otherwise`; a
/// member of another type is an error.
class HubConfig {
 public:
  explicit HubConfig(std::filesystem::path path) : path_(std::move(path)), object_(parse_json(read_file(path_))) {
    require(object_.is_object(), path_.string(), ": must be a JSON object; the file may be damaged or cut short");
  }

  const nlohmann::json& members() const { return object_; }
  nlohmann::json find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nlohmann::json() : *found;
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    fail(path_.string(), ": ", name, " is ",
         find(name.c_str()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "; ", why);
  }

  /// An integer from `least` to the maximum of int.
  Index whole(const char* name, Index least, std::optional<Index> otherwise = {}) const {
    const auto value = find(name);
    if (value.is_null() && otherwise) return *otherwise;
    if (!value.is_number_integer() || value < least || value > std::numeric_limits<int>::max())
      refuse(name, "it must be a whole number of at least " + std::to_string(least));
    return value;
  }
  double number(const char* name, double otherwise) const {
    const auto value = find(name);
    if (!value.is_null() && !value.is_number()) refuse(name, "it must be a number");
    return value.is_null() ? otherwise : value.get<double>();
  }
  bool flag(const char* name, bool otherwise) const {
    const auto value = find(name);
    if (!value.is_null() && !value.is_boolean()) refuse(name, "it must be true or false");
    return value.is_null() ? otherwise : value.get<bool>();
  }

  /// Checks that a token, if given, equals that of the vocabulary.
  void check_token(const char* name, Token token) const {
    auto value = find(name);
    if (value.is_array() && value.size() == 1) value = nlohmann::json(value[0]);
    if (!value.is_null() && value != token) refuse(name, "but it is " + std::to_string(token) + " in the vocabulary");
  }

 private:
  std::filesystem::path path_;
  nlohmann::json object_;
};

}  // namespace attn
