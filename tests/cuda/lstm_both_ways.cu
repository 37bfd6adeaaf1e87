#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "attn/cuda.cuh"
#include "cuda/devices.hpp"
#include "cuda/guarded.hpp"

// Two directions of a layer, walked at the same time: the bits of one after the other.

namespace {

using attn::Index;

template <class Device>
struct Way {
  Activations<Device> gates, recurrent, h, c, previous, last_h, last_c, dh, dgates;

  Way(Device& device, Index rows, Index sentences, Index width, std::uint64_t stream)
      : gates(device, rows, 4 * width, operand(rows * 4 * width, stream, Precision::bfloat16)),
        recurrent(device, 4 * width, width,
                  operand(4 * width * width, stream + 1, Precision::bfloat16, 1 / std::sqrt(static_cast<double>(width)))),
        h(device, rows, width, {}, width),
        c(device, rows, width),
        previous(device, rows, width),
        last_h(device, sentences, width, {}, width),
        last_c(device, sentences, width, {}, width),
        dh(device, rows, width, operand(rows * width, stream + 2, Precision::bfloat16), width),
        dgates(device, rows, 4 * width) {}

  attn::LstmArgs<Device> forward(const attn::Ragged& rows, const std::int32_t* order, bool reverse) const {
    return {.gates = gates,
            .rows = rows,
            .order = order,
            .recurrent = recurrent,
            .reverse = reverse,
            .h = h,
            .c = c,
            .previous = previous,
            .last_h = last_h,
            .last_c = last_c};
  }
  std::vector<Numbers> results() const {
    return {h.read("h"),           c.read("c"),           previous.read("previous"),
            last_h.read("last_h"), last_c.read("last_c"), dgates.read("dgates")};
  }
};

template <class Device>
void check_both_ways(Index width, const std::vector<std::int32_t>& lengths) {  // by falling length
  Device device;
  const Layout<Device> layout(device, lengths);
  const auto sentences = static_cast<Index>(lengths.size());
  std::vector<std::int32_t> numbers(lengths.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const Integers<Device> order(device, numbers);
  const auto run = [&](bool together) {
    const std::array<Way<Device>, 2> ways{Way<Device>(device, layout.rows(), sentences, width, 1),
                                          Way<Device>(device, layout.rows(), sentences, width, 11)};
    std::array<attn::LstmArgs<Device>, 2> forward;
    std::array<attn::LstmGradientArgs<Device>, 2> backward;
    for (std::size_t i = 0; i < 2; ++i) {
      forward[i] = ways[i].forward(layout, order.data(), i == 1);
      backward[i] = attn::LstmGradientArgs<Device>{.forward = forward[i], .dh = ways[i].dh, .dgates = ways[i].dgates};
    }
    if (together) {
      lstm(device, forward);
      lstm_gradient(device, backward);
    } else {
      for (std::size_t i = 0; i < 2; ++i) lstm(device, forward[i]);
      for (std::size_t i = 0; i < 2; ++i) lstm_gradient(device, backward[i]);
    }
    std::vector<Numbers> results = ways[0].results();
    for (Numbers& some : ways[1].results()) results.push_back(std::move(some));
    return results;
  };
  const auto apart = run(false), together = run(true);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    INFO("width ", width, ", ", sentences, " sentences, result ", i);
    CHECK(same_bits(apart[i], together[i]));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("lstm: two concurrent directions give the same bits as sequential ones", Device, attn::Cuda<float>,
                   attn::Cuda<attn::bfloat16>) {
  if (!is_here<CudaBfloat16>()) return;
  std::vector<std::int32_t> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int32_t>(30 - i * 30 / many.size());
  for (const Index width : {5, 64, 128}) check_both_ways<Device>(width, {7, 4, 4, 1, 0});  // a block has all units
  for (const Index width : {64, 256, 512}) check_both_ways<Device>(width, many);
  check_both_ways<Device>(1024, {5, 3, 3, 1});
  check_both_ways<Device>(1024, many);          // too many sentences for both at once
  check_both_ways<Device>(1072, {5, 3, 3, 1});  // too wide
  check_both_ways<Device>(64, {1, 1, 1});
}
