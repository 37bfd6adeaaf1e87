#include "cuda/expression_case.hpp"

#include "cuda/devices.hpp"
#include "cuda/relative_error.hpp"

// Expressions against Cpu<double>, within what the roundings of their operations allow.

namespace {

OpCase expression(int kind, const std::string& name, attn::Index rows, attn::Index width, attn::Index gap, double bound = 2,
                  bool add = false, bool in_place = false) {
  return {"expression",
          "kind " + std::to_string(kind) + ", " + name,
          {{"kind", {static_cast<double>(kind)}},
           {"rows", {static_cast<double>(rows)}},
           {"width", {static_cast<double>(width)}},
           {"gap", {static_cast<double>(gap)}},
           {"bound", {bound}},
           {"add", {add ? 1.0 : 0.0}},
           {"in_place", {in_place ? 1.0 : 0.0}}}};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (int kind = 0; kind < kExpressionKinds; ++kind) {
    all.push_back(expression(kind, "no rows", 0, 64, 0));
    all.push_back(expression(kind, "one number", 1, 1, 0));
    all.push_back(expression(kind, "one pack", 1, 8, 0));
    all.push_back(expression(kind, "width 17, unaligned", 9, 17, 3, 2, true));
    all.push_back(expression(kind, "whole packs, unaligned rows", 33, 64, 3, 2, false, true));
    all.push_back(expression(kind, "width 264, a part of a warp", 130, 264, 8, 2, true));
    all.push_back(expression(kind, "width 512", 1003, 512, 0, 2, false, true));
    all.push_back(expression(kind, "width 512, added", 257, 512, 16, 2, true));
    all.push_back(expression(kind, "width 2048, far from 0", 300, 2048, 0, 8));
    all.push_back(expression(kind, "tall", 20011, 24, 0, 1));
  }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("accuracy: expression", Device, CpuFloat, CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  for (const OpCase& test : cases()) {
    INFO(test.name);
    const Results results = device_under_test<Device>().run(test, Device::precision);
    const Results expected = truth().run(test, Device::precision);
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      REQUIRE(results[i].name == expected[i].name);
      INFO("result: ", expected[i].name);
      const RelativeError error = relative_error(results[i].numbers, expected[i].numbers);
      const RelativeError allowed = allowed_error({}, expected[i], Device::precision, Device::times);
      CHECK(error.mean <= allowed.mean);
      CHECK(error.worst <= allowed.worst);
    }
  }
}

TEST_CASE_TEMPLATE("determinism: expression", Device, CudaFloat, CudaBfloat16) {
  if (!is_here<Device>()) return;
  for (const OpCase& test : cases()) {
    INFO(test.name);
    const Results first = device_under_test<Device>().run(test, Device::precision);
    for (int repeat = 1; repeat < 3; ++repeat) {
      const Results again = device_under_test<Device>().run(test, Device::precision);
      for (std::size_t i = 0; i < first.size(); ++i) {
        INFO("result: ", first[i].name, ", repeat ", repeat);
        CHECK(same_bits(again[i].numbers, first[i].numbers));
      }
    }
  }
}
