#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "attn/cuda.cuh"
#include "cuda/devices.hpp"
#include "cuda/guarded.hpp"

// A step of an LSTM layer in one kernel, for every way in which it shares sentences and terms out, beside its formula in double.

namespace {

using attn::Index;
using Device = attn::Cuda<attn::bfloat16>;

struct Sizes {
  Index rows, in, width;
  bool states;
  Index gap;  // columns on either side of states and results
};

struct Operands {
  Numbers x, input, recurrent, bias, h0, c0;

  explicit Operands(const Sizes& sizes) {
    const double bound = 1 / std::sqrt(static_cast<double>(sizes.width));
    const auto draw = [](Index count, std::uint64_t stream, double limit) {
      return operand(count, stream, Precision::bfloat16, limit);
    };
    x = draw(sizes.rows * sizes.in, 1, 1);
    input = draw(4 * sizes.width * sizes.in, 2, bound);
    recurrent = draw(4 * sizes.width * sizes.width, 3, bound);
    bias = draw(4 * sizes.width, 4, 1);
    h0 = draw(sizes.rows * sizes.width, 5, 1);
    c0 = draw(sizes.rows * sizes.width, 6, 2);
  }
};

/// h, h once more, and c.
std::vector<Numbers> step(Device& device, const Sizes& sizes) {
  const Operands all(sizes);
  const auto make = [&](Index rows, Index cols, const Numbers& numbers, Index gap = 0) {
    return Activations<Device>(device, rows, cols, numbers, gap);
  };
  const Index rows = sizes.rows, width = sizes.width;
  const auto x = make(rows, sizes.in, all.x), input = make(4 * width, sizes.in, all.input),
             recurrent = make(4 * width, width, all.recurrent), bias = make(1, 4 * width, all.bias),
             h0 = make(rows, width, all.h0, sizes.gap), c0 = make(rows, width, all.c0, sizes.gap);
  const auto gates = make(rows, 4 * width, {}), states = make(rows, width, {}), previous = make(rows, width, {}),
             h = make(rows, width, {}, sizes.gap), last_h = make(rows, width, {}, sizes.gap),
             last_c = make(rows, width, {}, sizes.gap);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(rows) + 1);
  std::iota(numbers.begin(), numbers.end(), 0);
  attn::Buffer<std::int32_t, Device::Memory> offsets(device, rows + 1);
  device.upload(offsets.data(), numbers.data(), rows + 1);
  attn::LstmCellArgs<Device> args{.x = x,
                                  .input = input,
                                  .bias = bias.data(),
                                  .step = {.gates = gates,
                                           .rows = {offsets.data(), offsets.data() + 1, rows, rows, 1},
                                           .order = offsets.data(),
                                           .recurrent = recurrent,
                                           .keep = false,
                                           .h = h,
                                           .c = states,
                                           .previous = previous,
                                           .last_h = last_h,
                                           .last_c = last_c}};
  if (sizes.states) args.step.h0 = h0, args.step.c0 = c0;
  lstm_cell(device, args);
  return {h.read("h"), last_h.read("last_h"), last_c.read("last_c")};
}

/// h and c by the formula, in double.
std::vector<Numbers> formula(const Sizes& sizes) {
  const Operands all(sizes);
  const Index width = sizes.width;
  const auto product = [](const double* a, const double* b, Index count) {
    return std::inner_product(a, a + count, b, 0.0);
  };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  Numbers h, c;
  for (Index row = 0; row < sizes.rows; ++row)
    for (Index unit = 0; unit < width; ++unit) {
      double gate[4];
      for (Index i = 0; i < 4; ++i) {
        const Index at = i * width + unit;
        gate[i] =
            all.bias[static_cast<std::size_t>(at)] + product(&all.x[static_cast<std::size_t>(row * sizes.in)],
                                                             &all.input[static_cast<std::size_t>(at * sizes.in)], sizes.in);
        if (sizes.states)
          gate[i] += product(&all.h0[static_cast<std::size_t>(row * width)],
                             &all.recurrent[static_cast<std::size_t>(at * width)], width);
      }
      const double before = sizes.states ? all.c0[static_cast<std::size_t>(row * width + unit)] : 0;
      c.push_back(sigmoid(gate[1]) * before + sigmoid(gate[0]) * std::tanh(gate[2]));
      h.push_back(sigmoid(gate[3]) * std::tanh(c.back()));
    }
  return {h, h, c};
}

}  // namespace

TEST_CASE("lstm_cell: the fused kernel matches the formula up to rounding") {
  if (!is_here<CudaBfloat16>()) return;
  Device device;
  for (const Sizes& sizes :
       {Sizes{1, 32, 32, true, 0}, Sizes{8, 64, 32, false, 8}, Sizes{9, 96, 64, true, 8}, Sizes{17, 512, 128, true, 0},
        Sizes{33, 32, 512, true, 0}, Sizes{64, 1024, 512, true, 8}, Sizes{64, 64, 1024, true, 0},
        Sizes{64, 64, 1024, false, 0}, Sizes{65, 96, 1024, true, 0}, Sizes{200, 128, 256, true, 8},
        Sizes{256, 32, 96, true, 0}, Sizes{257, 32, 96, true, 0},  // more than it takes
        Sizes{5, 40, 64, true, 0}, Sizes{5, 64, 40, true, 0},
        Sizes{5, 64, 64, true, 3}}) {  // and rows that it does not take
    INFO("rows ", sizes.rows, ", in ", sizes.in, ", width ", sizes.width, ", gap ", sizes.gap);
    const auto found = step(device, sizes), right = formula(sizes);
    CHECK(same_bits(found[0], found[1]));
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
      double worst = 0;
      for (std::size_t j = 0; j < right[i].size(); ++j)
        worst = std::max(worst, std::abs(found[i][j] - right[i][j]) / (1 + std::abs(right[i][j])));
      CHECK(worst <=
            (sizes.rows <= 256 && sizes.in % 32 == 0 && sizes.width % 32 == 0 && sizes.gap % 8 == 0 ? 0x1p-8 : 0x1p-6));
    }
    CHECK(same_bits(step(device, sizes)[0], found[0]));
  }
}

TEST_CASE("lstm_cell: a row does not depend on the other rows") {
  if (!is_here<CudaBfloat16>()) return;
  Device device;
  const Numbers all = step(device, {64, 96, 64, true, 0})[0];
  for (const Index rows : {1, 8, 9, 16, 32, 33}) {
    const Numbers some = step(device, {rows, 96, 64, true, 0})[0];
    CHECK(same_bits(some, Numbers(all.begin(), all.begin() + rows * 64)));
  }
}
