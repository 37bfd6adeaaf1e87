#include "attn/cpu/linear.hpp"

#include <doctest/doctest.h>

#include "attn/core/network.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;
using attn::Matrix;

namespace {

/// x Wᵀ + bias of a layer whose weights the device holds, or not.
template <class T>
Numbers product(Cpu<T>& device, bool held, Index rows, Index depth, Index outputs, bool bias = true, bool relu = false) {
  using D = Cpu<T>;
  const Tensor<D> x(device, rows, depth, random_numbers(rows * depth, 1), 3);
  const Tensor<D> w(device, outputs, depth, random_numbers(outputs * depth, 2));
  const Tensor<D> b(device, outputs, 1, random_numbers(outputs, 3)), y(device, rows, outputs, kUnset, 2);
  if (held) device.weights().cache(w.data(), outputs * depth);
  linear(device, {.x = x, .weight = w, .bias = bias ? b.data() : nullptr, .y = y, .relu = relu});
  device.weights().forget(w.data(), outputs * depth);
  CHECK(y.outside_untouched());
  return y.read();
}

const Index kSizes[][3] = {{0, 4, 4},  {1, 1, 1},   {1, 512, 130}, {3, 7, 5},   {5, 33, 64},
                           {8, 0, 70}, {33, 17, 9}, {48, 64, 64},  {61, 20, 1}, {130, 600, 129}};

struct Layer {
  using DeviceType = Cpu<float>;
  attn::Parameter<DeviceType> weight{3, 2};
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

}  // namespace

TEST_CASE_TEMPLATE("packed weights: match unpacked weights for every size with and without bias and ReLU", T, float,
                   double) {
  Cpu<T> device(2);
  for (const auto& [rows, depth, outputs] : kSizes)
    for (const bool bias : {true, false})
      for (const bool relu : {true, false}) {
        CAPTURE(rows);
        CAPTURE(depth);
        CAPTURE(outputs);
        CHECK(distance(product(device, true, rows, depth, outputs, bias, relu),
                       product(device, false, rows, depth, outputs, bias, relu)) <= (sizeof(T) == 8 ? 1e-12 : 1e-4));
      }
}

TEST_CASE("packed weights: int8 is used only where the device caches the weights") {
  Cpu<float> plain(1), int8({.threads = 1, .int8_weights = true});
  const Numbers expected = product(plain, false, 5, 40, 70);
  CHECK(same_bits(product(int8, false, 5, 40, 70), expected));
  const double error = distance(product(int8, true, 5, 40, 70), expected);
  CHECK(error > 1e-4);
  CHECK(error < 0.15);
  CHECK(int8.description() == "1 thread, int8 weights");
  CHECK_THROWS_WITH_AS(Cpu<double>({.int8_weights = true}), "int8 weights need Cpu<float>", attn::Error);
}

TEST_CASE("packed weights: results do not depend on the number of rows or threads") {
  std::vector<attn::CpuOptions> modes{{}, {.int8_weights = true}};
  if (attn::kHasBfloat16Products) modes.push_back({.bfloat16_products = true});
  for (attn::CpuOptions options : modes) {
    options.threads = 1;
    Cpu<float> one(options);
    for (const auto& [depth, outputs] : {std::pair<Index, Index>{40, 300}, {513, 50}}) {
      const Numbers expected = product(one, true, 70, depth, outputs);
      for (const int threads : {2, 3}) {
        options.threads = threads;
        Cpu<float> several(options);
        CHECK(same_bits(product(several, true, 70, depth, outputs), expected));
      }
      for (const Index rows : {1, 2, 7, 49})
        CHECK(same_bits(product(one, true, rows, depth, outputs),
                        Numbers(expected.begin(), expected.begin() + rows * outputs)));
    }
  }
}

TEST_CASE("packed weights: bf16 products round both operands for any number of rows" *
          doctest::skip(!attn::kHasBfloat16Products)) {
  if (!attn::kHasBfloat16Products) return;
  Cpu<float> plain(1), rounding({.threads = 1, .bfloat16_products = true});
  for (const auto& [rows, depth, outputs] : kSizes)
    for (const bool bias : {true, false})
      for (const bool relu : {true, false})
        CHECK(distance(product(rounding, true, rows, depth, outputs, bias, relu),
                       product(plain, false, rows, depth, outputs, bias, relu)) <=
              0.008 * static_cast<double>(depth) + 1e-5);
  const double error = distance(product(rounding, true, 5, 512, 70), product(plain, false, 5, 512, 70));
  CHECK(error > 1e-3);
  CHECK(error < 0.2);
}

TEST_CASE("packed weights: follow parameter changes of inference models and are not used in training") {
  for (const bool int8 : {false, true}) {
    Cpu<float> device({.threads = 1, .int8_weights = int8});
    const Tensor<Cpu<float>> x(device, 1, 2, {1, 1}), y(device, 1, 3);
    const auto run = [&](const Layer& layer) {
      linear(device, {.x = x, .weight = layer.weight.matrix(), .y = y});
      return y.read();
    };
    attn::Network<Layer> used(device, attn::Inference{}), trained(device, 1);
    CHECK(run(*used) == Numbers{0, 0, 0});
    used.parameters.write(used.parameters.entries()[0], {127, 1, 2, 254, -127, 0});
    CHECK(run(*used) == Numbers{128, 256, -127});
    used.parameters.write(used.parameters.entries()[0], {127, 2, 127, 3, 127, 4});
    CHECK(run(*used) == Numbers{129, 130, 131});
    trained.parameters.values()[0] = trained.parameters.values()[1] = 0.3F;  // no call tells the device
    CHECK(run(*trained)[0] == doctest::Approx(0.6));
    trained.parameters.values()[0] = 0.1F;
    CHECK(run(*trained)[0] == doctest::Approx(0.4));
  }
}

TEST_CASE("packed weights: row ranges are packed separately and column ranges are not cached") {
  Cpu<float> device(1);
  const Tensor<Cpu<float>> w(device, 6, 4, random_numbers(24, 1)), other(device, 6, 4, random_numbers(24, 1));
  using Packed = attn::cpu::PanelWeights<float>;
  device.weights().cache(w.data(), 24);
  const Matrix<const float> whole = w, part = whole.row_range(2, 3);
  const auto* packed = device.weights().find<Packed>(whole);
  REQUIRE(packed != nullptr);
  CHECK(device.weights().find<Packed>(whole) == packed);
  CHECK(device.weights().find<Packed>(part) != nullptr);
  CHECK(device.weights().find<Packed>(part) != packed);
  const auto* first_rows = device.weights().find<Packed>(whole.row_range(0, 3));  // begins where the whole does
  CHECK(first_rows != nullptr);
  CHECK(first_rows != packed);
  CHECK(device.weights().find<Packed>(whole.columns(0, 2)) == nullptr);
  CHECK(device.weights().find<Packed>(other) == nullptr);
  CHECK(device.weights().find<Packed>(Matrix<const float>(w.data(), 7, 4)) == nullptr);
  using Int8 = attn::cpu::Int8Weights<>;  // one matrix can be packed in several ways
  CHECK(device.weights().find<Int8>(whole) != nullptr);
  CHECK(device.weights().find<Packed>(whole) == packed);
  device.weights().forget(w.data(), 24);
  CHECK(device.weights().find<Packed>(whole) == nullptr);
  CHECK(device.weights().find<Int8>(whole) == nullptr);
}

TEST_CASE("Cpu::like: one thread with the same precision and shared packed weights") {
  Cpu<float> device({.threads = 3, .int8_weights = true});
  const auto other = Cpu<float>::like(device);
  CHECK(other->description() == "1 thread, int8 weights");
  const Tensor<Cpu<float>> w(device, 6, 4, random_numbers(24, 1));
  device.weights().cache(w.data(), 24);
  CHECK(other->weights().find<attn::cpu::Int8Weights<>>(w) == device.weights().find<attn::cpu::Int8Weights<>>(w));
  device.weights().forget(w.data(), 24);
  CHECK(other->weights().find<attn::cpu::Int8Weights<>>(w) == nullptr);
}
