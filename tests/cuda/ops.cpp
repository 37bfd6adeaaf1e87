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
