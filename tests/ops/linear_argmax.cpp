#include "attn/ops/decoding.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attn/cpu.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;
using attn::Token;

namespace {

/// What the op finds with weights that the device holds, or not.
template <class T>
std::vector<Token> best(Cpu<T>& device, bool held, Index rows, Index classes, Index depth, const Numbers& x,
                        const Numbers& w, const Numbers& bias, Token except = -1) {
  using D = Cpu<T>;
  const Tensor<D> left(device, rows, depth, x, 3), weight(device, classes, depth, w);
  const Tensor<D> added(device, 1, classes, bias.empty() ? Numbers(static_cast<std::size_t>(classes)) : bias);
  const Tensor<D> room(device, rows, classes, kUnset, 2);
  std::vector<Token> result(static_cast<std::size_t>(rows) + 1, -7);
  if (held) device.weights().cache(weight.data(), classes * depth);
  linear_argmax(device, {.x = left,
                         .weight = weight,
                         .bias = bias.empty() ? nullptr : added.data(),
                         .logits = room,
                         .best = result.data(),
                         .except = except});
  device.weights().forget(weight.data(), classes * depth);
  CHECK(room.outside_untouched());
  CHECK(result.back() == -7);
  result.pop_back();
  return result;
}

/// linear, then argmax, on the same device.
std::vector<Token> two_ops(Cpu<float>& device, Index rows, Index classes, Index depth, const Numbers& x, const Numbers& w,
                           const Numbers& bias, Token except) {
  using D = Cpu<float>;
  const Tensor<D> left(device, rows, depth, x), weight(device, classes, depth, w), added(device, 1, classes, bias);
  const Tensor<D> logits(device, rows, classes);
  std::vector<Token> result(static_cast<std::size_t>(rows), -1);
  device.weights().cache(weight.data(), classes * depth);
  linear(device, {.x = left, .weight = weight, .bias = added.data(), .y = logits});
  device.weights().forget(weight.data(), classes * depth);
  argmax(device, {.logits = logits, .best = result.data(), .except = except});
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("linear_argmax: returns the column of the largest product and the first of equal ones", T, float,
                   double) {
  for (const bool int8 : {false, true}) {
    if (int8 && sizeof(T) == 8) continue;
    Cpu<T> device({.threads = 2, .int8_weights = int8});
    const Numbers x{1, 0, 0, -1, 2, 2}, w{1, 0, 0, 1, -1, 0, 1, 0};  // logits 1 0 -1 1, 0 -1 0 0, 2 2 -2 2
    for (const bool held : {false, true}) {
      const auto found = [&](const Numbers& bias, Token except = -1) {
        return best(device, held, 3, 4, 2, x, w, bias, except);
      };
      CHECK(found({}) == std::vector<Token>{0, 0, 0});
      CHECK(found({}, 0) == std::vector<Token>{3, 2, 1});
      CHECK(found({}, 3) == std::vector<Token>{0, 0, 0});
      CHECK(found({}, 4) == std::vector<Token>{0, 0, 0});  // not one of them
      CHECK(found({0, 3, 0, 1}) == std::vector<Token>{1, 1, 1});
      CHECK(found({0, 3, 0, 1}, 1) == std::vector<Token>{3, 3, 3});
      CHECK(found(Numbers(4, -HUGE_VAL)) == std::vector<Token>{0, 0, 0});
      CHECK(found(Numbers(4, -HUGE_VAL), 0) == std::vector<Token>{1, 1, 1});
      CHECK(found({0, 0, HUGE_VAL, 0}) == std::vector<Token>{2, 2, 2});
      CHECK(best(device, held, 0, 4, 2, {}, w, {}).empty());
      CHECK(best(device, held, 2, 1, 2, {3, 4, 5, 6}, {1, 1}, {}) == std::vector<Token>{0, 0});
    }
  }
}

TEST_CASE("linear_argmax: int8 weights give linear and argmax for any number of threads and rows") {
  const Index sizes[][3] = {{1, 1, 1},      {1, 65, 7},     {4, 31, 64},  {5, 200, 70},
                            {17, 129, 128}, {33, 1000, 33}, {300, 97, 20}};
  for (const int threads : {1, 2, 3})
    for (const auto& [rows, classes, depth] : sizes) {
      CAPTURE(threads);
      CAPTURE(rows);
      Cpu<float> device({.threads = threads, .int8_weights = true});
      Numbers x = random_numbers(rows * depth, 1);
      const Numbers w = random_numbers(classes * depth, 2), bias = random_numbers(classes, 3, 0.1);
      if (rows > 4) std::fill_n(x.begin() + 2 * depth, depth, 0.0);  // a row whose logits are the bias
      for (const Token except : {Token{-1}, Token{0}, static_cast<Token>(classes - 1), Token{64}}) {
        if (classes == 1 && except == 0) continue;
        CHECK(best(device, true, rows, classes, depth, x, w, bias, except) ==
              two_ops(device, rows, classes, depth, x, w, bias, except));
      }
    }
}

TEST_CASE("linear_argmax: int8 weights return the first of equal products across panels") {
  const Index classes = 500, depth = 8;
  for (const int threads : {1, 2, 5}) {
    Cpu<float> device({.threads = threads, .int8_weights = true});
    for (const Index first : {0, 31, 32, 63, 64, 255, 256, 480, 499})
      for (const Index second : {1, 30, 33, 65, 254, 257, 498}) {
        Numbers bias(static_cast<std::size_t>(classes), -1);
        bias[static_cast<std::size_t>(first)] = bias[static_cast<std::size_t>(second)] = 2;
        const auto found = [&](Index except) {
          return best(device, true, 6, classes, depth, Numbers(6 * depth), random_numbers(classes * depth, 4), bias,
                      static_cast<Token>(except));
        };
        CHECK(found(-1) == std::vector<Token>(6, static_cast<Token>(std::min(first, second))));
        CHECK(found(first) == std::vector<Token>(6, static_cast<Token>(second)));
      }
  }
}

TEST_CASE("linear_argmax: int8 weights never choose NaN unless a row has nothing else") {
  const Index classes = 90, depth = 8;
  for (const int threads : {1, 2}) {
    Cpu<float> device({.threads = threads, .int8_weights = true});
    Numbers x = random_numbers(6 * depth, 5), bias(static_cast<std::size_t>(classes));
    x[static_cast<std::size_t>(depth)] = std::nan("");  // row 1
    bias[40] = std::nan("");
    bias[70] = 100;
    CHECK(best(device, true, 6, classes, depth, x, random_numbers(classes * depth, 6), bias) ==
          std::vector<Token>{70, 0, 70, 70, 70, 70});
  }
}
