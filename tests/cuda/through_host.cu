#include "attn/parallel/through_host.cuh"

#include <doctest/doctest.h>

#include <atomic>

#include "attn/cuda/device.cuh"
#include "cuda/backend.hpp"
#include "parallel/thread_ranks.hpp"

// Ranks that are threads, with devices of their own on the one GPU.

using attn::Communicator;
using attn::Index;

namespace {

using Device = attn::Cuda<float>;

/// Numbers on a rank's GPU.
struct OnGpu {
  Device& device;
  attn::Buffer<float, attn::CudaMemory> buffer;

  OnGpu(Device& device, Index count) : device(device), buffer(device, count) {}
  void fill(float value) {
    const std::vector<float> all(static_cast<std::size_t>(buffer.size()), value);
    device.upload(buffer.data(), all.data(), buffer.size());
  }
  attn::SharedNumbers part(Index first, Index count) { return {buffer.data() + first, count}; }
  std::vector<float> read(Index first, Index count) const {
    std::vector<float> all(static_cast<std::size_t>(count));
    device.download(all.data(), buffer.data() + first, count);
    return all;
  }
};

/// What is not as it should be, of all ranks: one that threw would leave the others waiting.
std::atomic<Index> wrong = 0;

void expect(bool right) { wrong += right ? 0 : 1; }
void expect_all(const std::vector<float>& numbers, double value) {
  for (const float number : numbers) expect(static_cast<double>(number) == value);
}

}  // namespace

TEST_CASE("through the host: ranks sum and reduce and broadcast and exchange messages") {
  if (const std::string why = no_gpu(); !why.empty()) {
    MESSAGE("skipped: ", why);
    return;
  }
  wrong = 0;
  constexpr Index kRanks = 3, kCount = 300'007;
  std::vector<double> waited(kRanks);
  thread_ranks::on_ranks(kRanks, [&](Communicator& host) {
    Device device;
    attn::ThroughHost ranks(host);
    const Index rank = ranks.rank();
    expect(ranks.takes_gpu_memory() && ranks.ranks() == kRanks && !ranks.alone());
    const auto mine = static_cast<double>(rank);
    OnGpu numbers(device, kCount);
    for (int step = 0; step < 20; ++step) {
      const Index cut = 1 + step * 15'000;  // slots grow, and shrink
      numbers.fill(static_cast<float>(rank + step));
      ranks.begin_sum(numbers.part(0, cut), device.stream());
      ranks.begin_sum_at(1, numbers.part(cut, 5), device.stream());
      double said = mine;
      ranks.sum(&said, 1);  // the host's, while numbers of the GPU are on their way
      expect(said == 3);
      expect(ranks.gather(std::to_string(rank)).back() == "2");
      ranks.begin_broadcast(2, numbers.part(cut + 5, 7), device.stream());
      ranks.wait(device.stream());
      expect_all(numbers.read(0, cut), 3 + 3 * step);
      expect_all(numbers.read(cut, 5), rank == 1 ? 3 + 3 * step : mine + step);
      expect_all(numbers.read(cut + 5, 7), 2 + step);
      expect_all(numbers.read(cut + 12, kCount - cut - 12), mine + step);  // what nobody asked for
    }
    ranks.wait(device.stream());  // for nothing
    device.synchronize();
    waited[static_cast<std::size_t>(rank)] = ranks.seconds_waited();
  });
  CHECK(wrong == 0);
  for (const double seconds : waited) {
    CHECK(seconds > 0);
    CHECK(seconds < 60);
  }
}
