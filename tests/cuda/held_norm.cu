#include <doctest/doctest.h>

#include "attn/cuda.cuh"
#include "attn/tape/tape.hpp"
#include "cuda/devices.hpp"
#include "cuda/guarded.hpp"

// A layer norm of few rows waits for the product that reads it. Nobody can tell: each number has the bits that it has where the norm runs
// by itself.

namespace {

using Device = attn::Cuda<attn::bfloat16>;
using attn::Index;

struct Sizes {
  Index rows, width, outputs;
  bool branch, center, relu;
};

Activations<Device> matrix(Device& device, Index rows, Index cols, std::uint64_t stream) {
  return {device, rows, cols, operand(rows * cols, stream, Precision::bfloat16)};
}

/// What norm and product give; `together`: with nothing between them.
std::vector<Numbers> norm_and_product(Device& device, const Sizes& sizes, bool together) {
  const auto x = matrix(device, sizes.rows, sizes.width, 1), branch = matrix(device, sizes.rows, sizes.width, 2),
             gain = matrix(device, 1, sizes.width, 3), bias = matrix(device, 1, sizes.width, 4),
             weight = matrix(device, sizes.outputs, sizes.width, 5), shift = matrix(device, 1, sizes.outputs, 6);
  const Activations<Device> y(device, sizes.rows, sizes.width), out(device, sizes.rows, sizes.outputs);
  const Reals<Device> mean(device, 1, sizes.rows), inverse(device, 1, sizes.rows);
  attn::LayerNormArgs<Device> norm{.x = x,
                                   .gain = gain.data(),
                                   .bias = sizes.center ? bias.data() : nullptr,
                                   .y = y,
                                   .mean = mean.data(),
                                   .inverse_deviation = inverse.data(),
                                   .center = sizes.center};
  if (sizes.branch) norm.branch = branch;
  layer_norm(device, norm);
  if (!together) device.synchronize();
  linear(device, {.x = y, .weight = weight, .bias = shift.data(), .y = out, .relu = sizes.relu});
  return {y.read("y"), mean.read("mean"), inverse.read("inverse_deviation"), out.read("product")};
}

}  // namespace

TEST_CASE("deferred norm: a layer norm fused into its product gives the same bits") {
  if (!is_here<CudaBfloat16>()) return;
  Device device;
  for (const Sizes& sizes :
       {Sizes{1, 512, 1536, true, true, false}, Sizes{7, 512, 512, true, true, true}, Sizes{8, 256, 40, false, true, false},
        Sizes{9, 512, 2048, true, false, true}, Sizes{64, 512, 1536, true, true, false},
        Sizes{64, 480, 100, false, true, false}, Sizes{33, 32, 16, true, true, false},
        Sizes{64, 128, 5000, true, true, false},  // more outputs than it is worth for
        Sizes{65, 512, 512, true, true, false},   // more rows,
        Sizes{16, 544, 512, true, true, false},   // wider rows,
        Sizes{3, 36, 20, true, true, false}}) {   // and rows that are no packs
    INFO("rows ", sizes.rows, ", width ", sizes.width, ", outputs ", sizes.outputs);
    const std::vector<Numbers> apart = norm_and_product(device, sizes, false),
                               together = norm_and_product(device, sizes, true);
    for (std::size_t i = 0; i < apart.size(); ++i) CHECK(same_bits(together[i], apart[i]));
  }
}

TEST_CASE("deferred norm: runs before any other operation and at synchronization") {
  if (!is_here<CudaBfloat16>()) return;
  Device device;
  const auto x = matrix(device, 4, 64, 1), gain = matrix(device, 1, 64, 3), bias = matrix(device, 1, 64, 4);
  const Reals<Device> mean(device, 1, 4), inverse(device, 1, 4);
  const auto norm = [&](const Activations<Device>& to) {
    layer_norm(device, {.x = x,
                        .gain = gain.data(),
                        .bias = bias.data(),
                        .y = to,
                        .mean = mean.data(),
                        .inverse_deviation = inverse.data()});
  };
  const Activations<Device> first(device, 4, 64), second(device, 4, 64), product(device, 4, 64);
  norm(first);
  norm(second);                                                                     // two in a row
  linear(device, {.x = x, .weight = x.view(), .y = product.view().columns(0, 4)});  // a product of something else
  const Numbers y = first.read("y");
  CHECK_FALSE(std::isnan(y[0]));
  CHECK(same_bits(second.read("y"), y));
}

TEST_CASE("deferred norm: runs before its tape frees the memory") {
  if (!is_here<CudaBfloat16>()) return;
  Device device;
  const auto gain = matrix(device, 1, 64, 3), bias = matrix(device, 1, 64, 4);
  const Activations<Device> y(device, 4, 64);
  const Reals<Device> mean(device, 1, 4), inverse(device, 1, 4);
  {
    attn::Tape<Device> tape(device);
    const auto x = tape.make(4, 64);
    device.zero(x.value);
    layer_norm(device, {.x = x.value,
                        .gain = gain.data(),
                        .bias = bias.data(),
                        .y = y,
                        .mean = mean.data(),
                        .inverse_deviation = inverse.data()});
  }
  attn::Tape<Device> other(device);  // has the same memory
  device.upload(other.make(4, 64).value.data, std::vector<attn::bfloat16>(256, attn::bfloat16(1.0f)).data(), 256);
  CHECK(same_bits(mean.read("mean"), Numbers(4, 0)));
}
