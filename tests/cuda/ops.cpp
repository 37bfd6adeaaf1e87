#include "cuda/devices.hpp"
#include "cuda/relative_error.hpp"

// Every op in every case of the list, against Cpu<double>: at most twice as far from it as PyTorch is. A name of a test
// case ends with the op's, so that -tc=*attention* runs one.

namespace {

template <class Device>
void check_op(const std::string& op) {
  if (!is_here<Device>()) return;
  for (const OpCase& test : cases_of(op)) {
    INFO(test.op, ": ", test.name);
    try {
      const Results results = device_under_test<Device>().run(test, Device::precision);
      const Results expected = truth().run(test, Device::precision);
      REQUIRE(results.size() == expected.size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        const Result& right = expected[i];
        REQUIRE(results[i].name == right.name);
        INFO("result: ", right.name);
        if (right.exact) {
          CHECK(same_bits(results[i].numbers, right.numbers));
          continue;
        }
        const RelativeError error = relative_error(results[i].numbers, right.numbers);
        const std::string& record = right.recorded_as.empty() ? right.name : right.recorded_as;
        const RelativeError allowed = allowed_error(pytorch_error(test, record, Device::precision, Device::on_gpu), right,
                                                    Device::precision, Device::times);
        CHECK(error.mean <= allowed.mean);
        CHECK(error.worst <= allowed.worst);
      }
    } catch (const attn::Error& error) {
      FAIL_CHECK(std::string(error.what()));
    }
  }
}

/// Every case once more: the same bits.
template <class Device>
void check_repeats(const std::string& op, int repeats) {
  if (!is_here<Device>()) return;
  for (const OpCase& test : cases_of(op)) {
    INFO(test.op, ": ", test.name);
    const Results first = device_under_test<Device>().run(test, Device::precision);
    for (int i = 1; i < repeats; ++i) {
      const Results again = device_under_test<Device>().run(test, Device::precision);
      for (std::size_t j = 0; j < first.size(); ++j) {
        INFO("result: ", first[j].name, ", repeat ", i);
        CHECK(same_bits(again[j].numbers, first[j].numbers));
      }
    }
  }
}

}  // namespace

#define ATTN_CHECK_OP(op)                                                                                  \
  TEST_CASE_TEMPLATE("accuracy: " op, Device, CpuFloat, CudaFloat, CudaBfloat16) { check_op<Device>(op); } \
  TEST_CASE_TEMPLATE("determinism: " op, Device, CudaFloat, CudaBfloat16) { check_repeats<Device>(op, 3); }
#define ATTN_CHECK_PRODUCTS(op) \
  ATTN_CHECK_OP(op)             \
  TEST_CASE_TEMPLATE("accuracy with bf16 matrix products: " op, Device, CpuBfloat16) { check_op<Device>(op); }

ATTN_CHECK_PRODUCTS("attention")
ATTN_CHECK_PRODUCTS("attention_weights")
ATTN_CHECK_OP("additive_attention")
ATTN_CHECK_PRODUCTS("linear")
ATTN_CHECK_PRODUCTS("ragged_projection")
ATTN_CHECK_PRODUCTS("lstm")
ATTN_CHECK_PRODUCTS("input_feeding")
ATTN_CHECK_OP("layer_norm")
ATTN_CHECK_OP("residual")
ATTN_CHECK_OP("dropout")
ATTN_CHECK_OP("gather_rows")
ATTN_CHECK_OP("activation")
ATTN_CHECK_OP("tanh")
ATTN_CHECK_OP("scatter_rows")
ATTN_CHECK_OP("copy_rows")
ATTN_CHECK_OP("greedy_step")
ATTN_CHECK_OP("beam_step")
ATTN_CHECK_OP("embedding")
ATTN_CHECK_OP("sinusoid")
ATTN_CHECK_OP("cross_entropy")
ATTN_CHECK_OP("argmax")
ATTN_CHECK_OP("top_k")
ATTN_CHECK_OP("adam")
ATTN_CHECK_OP("softmax")
ATTN_CHECK_OP("reduce_columns")
ATTN_CHECK_OP("reduce_rows")
ATTN_CHECK_OP("repeat_rows")
ATTN_CHECK_OP("reduce_all")
ATTN_CHECK_PRODUCTS("ragged_product")
ATTN_CHECK_OP("cross_entropy_gradient")
ATTN_CHECK_OP("kl_divergence")
ATTN_CHECK_OP("rotary")
ATTN_CHECK_OP("repeat_heads")

// ---- Attention in TF32 ----

namespace {

/// The cases of attention, and long sentences of narrow heads.
std::vector<OpCase> tf32_cases() {
  std::vector<OpCase> cases = cases_of("attention");
  for (const double width : {8, 32, 64})
    for (const double causal : {0, 1}) {
      OpCase& test = cases.emplace_back();
      test.op = "attention";
      test.name = "long sentences, heads of " + std::to_string(width) + (causal > 0 ? ", causal" : "");
      test.settings = {
          {"queries", {300, 301}}, {"keys", {600, 513}}, {"heads", {2}}, {"head_width", {width}}, {"causal", {causal}}};
    }
  return cases;
}

double largest(const Numbers& numbers) {
  double most = 0;
  for (const double number : numbers)
    if (std::isfinite(number)) most = std::max(most, std::abs(number));
  return most;
}

/// The largest error relative to the largest element of the truth; where that is 0, as it is.
double error_of_largest(const Numbers& result, const Numbers& right) {
  if (result.size() != right.size()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double error = result[i] == right[i] ? 0 : std::abs(result[i] - right[i]);
    if (!std::isfinite(error)) return HUGE_VAL;
    worst = std::max(worst, error);
  }
  const double size = largest(right);
  return worst / (size > 1e-9 ? size : 1);
}

/// Whether attention takes tensor cores in TF32: several queries, heads of whole 16-byte packs, rows on 16-byte boundaries.
bool suits_tf32(const OpCase& test) {
  const attn::Index width = test.size("head_width");
  attn::Index longest = 0;
  for (const std::int32_t length : test.lengths("queries")) longest = std::max<attn::Index>(longest, length);
  return longest > 1 && width % 4 == 0 && width <= 128 && test.size("value_width", width) == width &&
         test.size("gap") % 4 == 0;
}

}  // namespace

TEST_CASE("accuracy: attention in TF32") {
  if (!is_here<CudaTf32>()) return;
  int on_tensor_cores = 0;
  for (const OpCase& test : tf32_cases()) {
    INFO(test.name);
    // TF32 rounds operands to 11 bits. Softmax turns the absolute error of a score into a relative error of its weight, and
    // scores grow with the square of their operands.
    const double bound = test.number("bound", 1), allowed = 1e-3 * bound * bound;
    try {
      const Results results = device_under_test<CudaTf32>().run(test, Precision::float32);
      const Results without = device_under_test<CudaFloat>().run(test, Precision::float32);
      const Results expected = truth().run(test, Precision::float32);
      bool same = true;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("result: ", expected[i].name);
        CHECK(error_of_largest(results[i].numbers, expected[i].numbers) <= allowed);
        same = same && same_bits(results[i].numbers, without[i].numbers);
      }
      CHECK(same != suits_tf32(test));
      on_tensor_cores += same ? 0 : 1;
    } catch (const attn::Error& error) {
      FAIL_CHECK(std::string(error.what()));
    }
  }
  CHECK(on_tensor_cores > 0);
}
TEST_CASE("determinism: attention in TF32") { check_repeats<CudaTf32>("attention", 3); }

// Long sentences take kernels of their own on Hopper, whose forward pass needs more than 2,048 queries per sentence.
TEST_CASE("accuracy: attention over more than 2,048 tokens in bfloat16") {
  if (!is_here<CudaBfloat16>()) return;
  for (const double width : {64, 128})
    for (const double causal : {0, 1}) {
      OpCase test;
      test.op = "attention";
      test.name = "heads of " + std::to_string(width) + (causal > 0 ? ", causal" : "");
      test.settings = {
          {"queries", {2177, 2053}}, {"keys", {2177, 2100}}, {"heads", {1}}, {"head_width", {width}}, {"causal", {causal}}};
      INFO(test.name);
      const Results results = device_under_test<CudaBfloat16>().run(test, Precision::bfloat16);
      const Results again = device_under_test<CudaBfloat16>().run(test, Precision::bfloat16);
      const Results expected = truth().run(test, Precision::bfloat16);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("result: ", expected[i].name);
        CHECK(error_of_largest(results[i].numbers, expected[i].numbers) <= 0.01);
        CHECK(same_bits(again[i].numbers, results[i].numbers));
      }
    }
}

TEST_CASE("relative error: includes the norm and the worst element and is never NaN") {
  const RelativeError error = relative_error({3, 4.5}, {3, 4});
  CHECK(error.mean == doctest::Approx(0.5 / 5));
  CHECK(error.worst == doctest::Approx(0.5 / std::sqrt(12.5)));
  CHECK(std::isinf(relative_error({1, std::nan("")}, {1, 2}).mean));
  CHECK(std::isinf(relative_error({1, std::nan("")}, {1, std::nan("")}).mean));
  CHECK(std::isinf(relative_error({1}, {1, 2}).mean));
  CHECK(std::isinf(relative_error({1, 5}, {1, -HUGE_VAL}).worst));
  CHECK(relative_error({1, -HUGE_VAL}, {1, -HUGE_VAL}).mean == 0);
  CHECK(relative_error({1e-8, 0}, {0, 0}).worst == doctest::Approx(1e-8));
  CHECK(relative_error({}, {}).mean == 0);
}

TEST_CASE("allowed error: a multiple of PyTorch's error but at least one rounding") {
  const Result many{"y", Numbers(100, 1)}, few{"y", {1}};
  CHECK(allowed_error({0.5, 0.5}, many, Precision::float32, 2).mean == 1);
  CHECK(allowed_error({0.5, 0.5}, many, Precision::float32, 2).worst == 2);
  CHECK(allowed_error({}, many, Precision::bfloat16, 2).mean == 0x1p-9);
  CHECK(allowed_error({}, few, Precision::bfloat16, 2).mean == 0x1p-8);
}
