#include <doctest/doctest.h>

#include "attn/cuda.cuh"
#include "cuda/devices.hpp"
#include "cuda/guarded.hpp"

// Rows that a cache grows by wait for the attention that reads them. Nobody can tell: each number has the bits that it has where they are put
// there first.

namespace {

using attn::Index;

struct Sizes {
  Index sentences, heads, width, value_width;  // of a head
  std::int32_t capacity;
};

/// What appending and attention give; `together`: with nothing between them. Sentence i has i % capacity rows before its newest one.
template <class Device>
std::vector<Numbers> append_and_attend(Device& device, const Sizes& sizes, bool together) {
  constexpr Precision kPrecision = sizeof(typename Device::Scalar) == 2 ? Precision::bfloat16 : Precision::float32;
  const Index width = sizes.heads * sizes.width, values = sizes.heads * sizes.value_width, both = width + values;
  const auto matrix = [&](Index rows, Index cols, std::uint64_t stream) {
    return Activations<Device>(device, rows, cols, operand(rows * cols, stream, kPrecision));
  };
  const auto q = matrix(sizes.sentences, width, 1), newest = matrix(sizes.sentences, both, 2),
             cache = matrix(sizes.sentences * sizes.capacity, both, 3);
  const Activations<Device> y(device, sizes.sentences, values);
  const Reals<Device> lse(device, sizes.sentences, sizes.heads);
  std::vector<std::int32_t> lists;  // queries' begin and end; keys' begin, the newest row, and keys' end
  const auto list = [&](auto&& number) {
    for (std::int32_t i = 0; i < sizes.sentences; ++i) lists.push_back(number(i));
  };
  list([](std::int32_t i) { return i; });
  list([](std::int32_t i) { return i + 1; });
  list([&](std::int32_t i) { return i * sizes.capacity; });
  list([&](std::int32_t i) { return i * sizes.capacity + i % sizes.capacity; });
  list([&](std::int32_t i) { return i * sizes.capacity + i % sizes.capacity + 1; });
  attn::Buffer<std::int32_t, typename Device::Memory> on_device(device, static_cast<Index>(lists.size()));
  device.upload(on_device.data(), lists.data(), on_device.size());
  const auto at = [&](Index which) { return on_device.data() + which * sizes.sentences; };

  move_rows(device, {.from = newest, .to = {cache}, .to_row = at(3), .count = sizes.sentences, .appends = true});
  if (!together) device.synchronize();
  attention(device, {.q = q,
                     .k = cache.view().columns(0, width),
                     .v = cache.view().columns(width, values),
                     .queries = {at(0), at(1), sizes.sentences, sizes.sentences, 1},
                     .keys = {at(2), at(4), sizes.sentences, sizes.sentences * sizes.capacity, sizes.capacity},
                     .heads = static_cast<int>(sizes.heads),
                     .scale = 1 / std::sqrt(static_cast<double>(sizes.width)),
                     .causal = true,
                     .y = y,
                     .lse = lse.data()});
  return {y.read("y"), lse.read("lse"), cache.read("cache")};
}

template <class Device>
void check_append(const std::vector<Sizes>& cases) {
  Device device;
  for (const Sizes& sizes : cases) {
    INFO("sentences ", sizes.sentences, ", heads ", sizes.heads, " of ", sizes.width, " and ", sizes.value_width);
    const auto apart = append_and_attend(device, sizes, false), together = append_and_attend(device, sizes, true);
    for (std::size_t i = 0; i < apart.size(); ++i) CHECK(same_bits(together[i], apart[i]));
  }
}

const std::vector<Sizes> kCases{
    {1, 8, 64, 64, 1},   {64, 8, 64, 64, 59}, {300, 8, 64, 64, 20},  // four warps a head, and one
    {5, 2, 128, 128, 9}, {7, 3, 24, 40, 33},  {6, 3, 5, 7, 4},       // wide heads, other values, no packs
    {4, 1, 192, 192, 6}};                                            // heads that another kernel takes

}  // namespace

TEST_CASE("deferred rows: cache rows appended by attention have the same bits") {
  if (!is_here<CudaBfloat16>()) return;
  check_append<attn::Cuda<attn::bfloat16>>(kCases);
  check_append<attn::Cuda<float>>(kCases);
}

TEST_CASE("deferred rows: are appended before attention to another cache") {
  if (!is_here<CudaBfloat16>()) return;
  attn::Cuda<float> device;
  const Activations<attn::Cuda<float>> newest(device, 1, 8, Numbers(8, 1)), cache(device, 2, 8, Numbers(16, 2)),
      other(device, 2, 8, Numbers(16, 3)), y(device, 1, 4);
  const Reals<attn::Cuda<float>> lse(device, 1, 1);
  const std::vector<std::int32_t> lists{0, 1, 0, 2};
  attn::Buffer<std::int32_t, attn::Cuda<float>::Memory> at(device, 4);
  device.upload(at.data(), lists.data(), 4);
  move_rows(device, {.from = newest, .to = {cache}, .to_row = at.data() + 1, .count = 1, .appends = true});
  attention(device, {.q = newest.view().columns(0, 4),
                     .k = other.view().columns(0, 4),
                     .v = other.view().columns(4, 4),
                     .queries = {at.data(), at.data() + 1, 1, 1, 1},
                     .keys = {at.data() + 2, at.data() + 3, 1, 2, 2},
                     .y = y,
                     .lse = lse.data()});
  CHECK(same_bits(y.read("y"), Numbers(4, 3)));
  CHECK(same_bits(cache.read("cache"), Numbers{2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1}));
}
