#pragma once
#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/ops/layer_norm.hpp"
#include "support/tensor.hpp"

using attn::Cpu;
using attn::Index;

struct LayerNormGradients {
  Numbers dx, dbranch, dgain, dbias;
};

/// Layer normalisation of random rows, optionally with a residual branch. RMS normalisation if `center` is false.
template <class T>
struct LayerNormOp {
  Cpu<T>& device;
  Tensor<Cpu<T>> x, branch, gain, bias, dy, z, y, mean, inverse;
  bool has_branch;
  attn::Dropout dropout;
  bool center;

  LayerNormOp(Cpu<T>& on, Index rows, Index width, bool with_branch = false, float rate = 0, Index gap = 0,
              bool centered = true)
      : device(on),
        x(on, rows, width, random_numbers(rows * width, 1, 2), gap),
        branch(on, rows, width, random_numbers(rows * width, 2), gap),
        gain(on, 1, width, random_numbers(width, 3)),
        bias(on, 1, width, random_numbers(width, 4)),
        dy(on, rows, width, random_numbers(rows * width, 5), gap),
        z(on, rows, width, kUnset, gap),
        y(on, rows, width, kUnset, gap),
        mean(on, 1, rows),
        inverse(on, 1, rows),
        has_branch(with_branch),
        dropout{rate, attn::key_of_seed(6)},
        center(centered) {}

  Numbers forward() {
    layer_norm(device, {.x = x,
                        .branch = has_branch ? branch.view() : attn::Matrix<T>(),
                        .dropout = dropout,
                        .gain = gain.data(),
                        .bias = center ? bias.data() : nullptr,
                        .z = z,
                        .y = y,
                        .mean = mean.data(),
                        .inverse_deviation = inverse.data(),
                        .center = center});
    CHECK(y.outside_untouched());
    CHECK(z.outside_untouched());
    return y.read();
  }
  LayerNormGradients backward(bool add = false, double start = kUnset, double parameters = 0) {
    Tensor<Cpu<T>> dx(device, x.rows(), x.cols(), start), dbranch(device, x.rows(), x.cols(), start),
        dgain(device, 1, x.cols(), parameters), dbias(device, 1, x.cols(), parameters);
    attn::Sink<T> branch_sink{};
    if (has_branch) branch_sink = {dbranch, add};
    layer_norm_gradient(device, {.z = has_branch ? z : x,
                                 .dy = dy,
                                 .gain = gain.data(),
                                 .mean = mean.data(),
                                 .inverse_deviation = inverse.data(),
                                 .dropout = dropout,
                                 .dx = {dx, add},
                                 .dbranch = branch_sink,
                                 .dgain = dgain.data(),
                                 .dbias = center ? dbias.data() : nullptr,
                                 .center = center});
    return {dx.read(), dbranch.read(), dgain.read(), dbias.read()};
  }
};
