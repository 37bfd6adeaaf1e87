#include "cuda/devices.hpp"
#include "cuda/relative_error.hpp"
#include "cuda/tape_case.hpp"

// Arithmetic on the tape against Cpu<double>, within what the roundings of intermediate activations allow.

namespace {

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  const auto add = [&](int kind, double rows, double width) {
    all.push_back({"tape",
                   "kind " + std::to_string(kind) + ", " + std::to_string(static_cast<int>(rows)) + " x " +
                       std::to_string(static_cast<int>(width)),
                   {{"kind", {static_cast<double>(kind)}}, {"rows", {rows}}, {"width", {width}}}});
  };
  for (int kind = 0; kind < kTapeKinds; ++kind) {
    add(kind, 1, 1);
    add(kind, 9, 17);
    add(kind, 33, 64);
    add(kind, 130, 264);
    add(kind, 257, 512);
  }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("accuracy: arithmetic on the tape", Device, CpuFloat, CudaFloat, CudaBfloat16) {
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

TEST_CASE_TEMPLATE("determinism: arithmetic on the tape", Device, CudaFloat, CudaBfloat16) {
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
