#include "cuda/relative_error.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attn/core/error.hpp"

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

nlohmann::json read_json(const char* name) {
  const auto path = std::filesystem::path(ATTN_TEST_FILES) / name;
  std::ifstream file(path);
  attn::require(file.is_open(), "cannot open ", path.string());
  return nlohmann::json::parse(file);
}

double root_mean_square(const Numbers& numbers) {
  double sum = 0, count = 0;
  for (const double number : numbers)
    if (std::isfinite(number)) sum += number * number, ++count;
  return count > 0 ? std::sqrt(sum / count) : 0;
}

}  // namespace

RelativeError relative_error(const Numbers& result, const Numbers& truth) {
  if (result.size() != truth.size()) return {kInfinite, kInfinite};
  Numbers differences(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (result[i] != truth[i]) differences[i] = std::abs(result[i] - truth[i]);  // of equals 0: also of infinite ones
    if (!std::isfinite(differences[i])) return {kInfinite, kInfinite};
  }
  if (truth.empty()) return {};
  const double size = root_mean_square(truth), by = size > 1e-9 ? size : 1;
  return {root_mean_square(differences) / by, *std::max_element(differences.begin(), differences.end()) / by};
}

RelativeError allowed_error(const RelativeError& pytorch, const Result& truth, Precision precision, double times) {
  const double one = unit(truth.in_float ? Precision::float32 : precision);
  const double size = root_mean_square(truth.numbers), by = size > 1e-9 ? size : 1;
  double largest = 0;
  for (const double number : truth.numbers)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  const double lucky = truth.numbers.size() < 100 ? one : 0, floor = truth.floor * std::max(1.0, size) / by;
  return {std::max({times * std::max(pytorch.mean, lucky), one, floor}),
          std::max({2 * times * std::max(pytorch.worst, lucky), 2 * one * std::max(1.0, largest / by), 4 * floor})};
}

std::vector<OpCase> cases_of(const std::string& op) {
  static const nlohmann::json all = read_json("op_cases.json");
  std::vector<OpCase> cases;
  const char* quick = std::getenv("ATTN_TEST_QUICK");
  const int level = quick == nullptr ? 0 : std::atoi(quick);
  attn::require(quick == nullptr || level == 1 || level == 2, "ATTN_TEST_QUICK is '", quick == nullptr ? "" : quick,
                "'; it must be 1, without the large cases, or 2, without the long ones either");
  int share = 0, shares = 1, count = 0;
  if (const char* wanted = std::getenv("ATTN_TEST_SHARE"))
    attn::require(std::sscanf(wanted, "%d/%d", &share, &shares) == 2 && share >= 0 && share < shares,
                  "ATTN_TEST_SHARE is '", wanted, "'; it must be like 0/4: every fourth case, from the first on");
  for (const auto& entry : all) {
    if (entry.at("op") != op) continue;
    if ((level >= 1 && entry.contains("large")) || (level >= 2 && entry.contains("long"))) continue;
    if (count++ % shares != share) continue;
    OpCase& test = cases.emplace_back();
    for (const auto& [key, value] : entry.items())
      if (key == "op")
        test.op = value;
      else if (key == "name")
        test.name = value;
      else if (value.is_array())
        test.settings[key] = value.get<std::vector<double>>();
      else
        test.settings[key] = {value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>()};
  }
  attn::require(count > 0, "tests/files/op_cases.json has no case of ", op);  // of few, a share may have none
  return cases;
}

RelativeError pytorch_error(const OpCase& test, const std::string& result, Precision precision, bool on_gpu) {
  static const nlohmann::json all = read_json("pytorch_errors.json");
  const char* device = on_gpu && all.contains("cuda") ? "cuda" : "cpu";
  const char* name = precision == Precision::float32 ? "float32" : "bfloat16";
  const auto& cases = all.at(device).at("errors");
  const std::string key = test.op + ": " + test.name;
  attn::require(cases.contains(key) && cases[key].at(name).contains(result), "there is no record of PyTorch's error in ",
                key, ", ", result, "; run tests/python/cuda_errors.py --device ", device);
  const auto& pair = cases[key][name][result];
  return {pair.at(0), pair.at(1)};
}
