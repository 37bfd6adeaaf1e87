#include "attn/core/memory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "support/errors.hpp"
#include "support/sanitizer.hpp"

using attn::Arena;
using attn::Buffer;
using attn::Pool;

namespace {

/// HostMemory that counts, and fills what it hands out so that sanitizers and tests see every byte is there.
struct Counted {
  static inline int live = 0, calls = 0;
  static void* allocate(std::size_t bytes, const char* what) {
    ++live, ++calls;
    return std::memset(attn::HostMemory::allocate(bytes, what), 0xab, bytes);
  }
  static void release(void* block) noexcept {
    --live;
    attn::HostMemory::release(block);
  }
};

bool aligned(const void* place) { return reinterpret_cast<std::uintptr_t>(place) % attn::kAlignment == 0; }
std::ptrdiff_t bytes_between(const void* a, const void* b) {
  return static_cast<const std::byte*>(b) - static_cast<const std::byte*>(a);
}
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// HostMemory of one of several places, which takes back only what it has handed out.
struct Placed {
  static inline int live[3] = {};
  int place = 0;
  void* allocate(std::size_t bytes, const char* what) const {
    ++live[place];
    return attn::HostMemory::allocate(bytes, what);
  }
  void release(void* block) const noexcept {
    --live[place];
    attn::HostMemory::release(block);
  }
};
struct PlacedDevice {
  using Memory = Placed;
  Arena<Placed> activations{"activations", Placed{2}};
};

/// HostMemory of a machine that has 8 MiB, and no more than 3 in one piece.
struct Scarce {
  static constexpr std::size_t kMost = 8 * kMiB, kPiece = 3 * kMiB;
  static inline std::size_t used = 0;
  static void* allocate(std::size_t bytes, const char* what) {
    if (bytes > kPiece || used + bytes > kMost) attn::fail<attn::OutOfMemory>(what, " need ", bytes, " bytes more");
    used += bytes;
    auto* block = static_cast<std::size_t*>(attn::HostMemory::allocate(bytes + attn::kAlignment, what));
    *block = bytes;
    return reinterpret_cast<std::byte*>(block) + attn::kAlignment;
  }
  static void release(void* place) noexcept {
    auto* block = reinterpret_cast<std::size_t*>(static_cast<std::byte*>(place) - attn::kAlignment);
    used -= *block;
    attn::HostMemory::release(block);
  }
};

}  // namespace

TEST_CASE("memory: sizes are rounded up to the alignment") {
  CHECK(attn::align_up(0) == 0);
  CHECK(attn::align_up(1) == 256);
  CHECK(attn::align_up(256) == 256);
  CHECK(attn::align_up(257) == 512);
  CHECK(attn::align_up(7, 4) == 8);
}

#ifndef ATTN_TEST_ADDRESSES  // whose allocator ends the program instead
TEST_CASE("memory: the out-of-memory error suggests what to reduce") {
  const std::string sentence = error_of([] { attn::HostMemory::allocate(std::size_t{1} << 60, "numbers"); });
  CHECK(contains(sentence, "out of memory"));
  CHECK(contains(sentence, "lower the batch size"));
}
#endif

TEST_CASE("arena: allocates aligned addresses in order") {
  Arena<Counted> arena;
  const void* a = arena.allocate(1);
  const void* b = arena.allocate(300);
  const void* c = arena.array<double>(4);
  CHECK(aligned(a));
  CHECK(bytes_between(a, b) == 256);
  CHECK(bytes_between(b, c) == 512);
}

TEST_CASE("arena: an empty array has an address and takes no space") {
  Arena<Counted> arena;
  const double* none = arena.array<double>(0);
  CHECK(none != nullptr);
  CHECK(static_cast<const void*>(none) == arena.allocate(8));
}

TEST_CASE("arena: returns the same addresses after a rewind") {
  Arena<Counted> arena;
  arena.allocate(1000);
  const auto mark = arena.mark();
  const void* first = arena.allocate(500);
  arena.allocate(500);
  arena.rewind(mark);
  CHECK(arena.allocate(500) == first);
}

TEST_CASE("arena: grows by blocks and merges them when rewound to empty") {
  Arena<Counted> arena;
  const int before = Counted::calls;
  for (int i = 0; i < 3; ++i) std::memset(arena.allocate(kMiB), i, kMiB);
  CHECK(Counted::calls - before == 3);
  CHECK(arena.capacity() >= 3 * kMiB);
  arena.rewind({});
  const int merged = Counted::calls;
  const void* first = arena.allocate(kMiB);
  const void* last = (arena.allocate(kMiB), arena.allocate(kMiB));
  CHECK(bytes_between(first, last) == 2 * kMiB);
  CHECK(Counted::calls == merged);
}

TEST_CASE("arena: identical steps allocate once and get the same addresses") {
  Arena<Counted> arena;
  const auto step = [&] {
    const auto mark = arena.mark();
    std::vector<void*> places;
    for (const std::size_t bytes : {kMiB / 2, 3 * kMiB, std::size_t{17}, kMiB, 5 * kMiB, std::size_t{0}})
      places.push_back(arena.allocate(bytes));
    arena.rewind(mark);
    return places;
  };
  step();
  const int calls = Counted::calls;
  const auto second = step();
  CHECK(step() == second);
  CHECK(Counted::calls == calls);
}

TEST_CASE("arena: rewinding to a mark keeps earlier allocations") {
  Arena<Counted> arena;
  auto* kept = arena.array<int>(10);
  kept[9] = 42;
  const auto mark = arena.mark();
  for (int i = 0; i < 4; ++i) arena.allocate(2 * kMiB);
  arena.rewind(mark);
  CHECK(kept[9] == 42);
}

TEST_CASE("arena: frees its memory on destruction") {
  const int before = Counted::live;
  {
    Arena<Counted> arena;
    for (int i = 0; i < 3; ++i) arena.allocate(kMiB);
    CHECK(Counted::live == before + 3);
  }
  CHECK(Counted::live == before);
}

TEST_CASE("pool: reuses a freed block for the next request that fits") {
  Pool<Counted> pool;
  void* a = pool.allocate(1000);
  void* b = pool.allocate(1000);
  CHECK(aligned(a));
  CHECK(a != b);
  pool.release(a);
  CHECK(pool.allocate(2000) != a);
  CHECK(pool.allocate(400) == a);
  CHECK(bytes_between(a, pool.allocate(400)) == 512);  // the rest of the block
}

TEST_CASE("pool: empty blocks have distinct addresses") {
  Pool<Counted> pool;
  void* a = pool.allocate(0);
  void* b = pool.allocate(0);
  CHECK(a != b);
  pool.release(a);
  CHECK(pool.allocate(0) == a);
}

TEST_CASE("pool: merges free neighbours in any order of release") {
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    Pool<Counted> pool;
    pool.release(pool.allocate(3 * 1024));
    pool.reset();  // one block of 3 KiB from here on
    void* parts[3];
    for (void*& part : parts) part = pool.allocate(1024);
    for (const int i : order) pool.release(parts[i]);
    CHECK(pool.allocate(3 * 1024) == parts[0]);
  }
}

TEST_CASE("pool: never merges blocks from different allocations") {
  Pool<Counted> pool;
  void* a = pool.allocate(kMiB);  // each fills an arena's block
  void* b = pool.allocate(kMiB);
  pool.release(a);
  pool.release(b);
  std::memset(pool.allocate(2 * kMiB), 1, 2 * kMiB);  // out of bounds of either, for the sanitizer
  CHECK(pool.capacity() >= 4 * kMiB);
}

TEST_CASE("pool: reset merges all memory into one block") {
  Pool<Counted> pool;
  for (int i = 0; i < 4; ++i) pool.allocate(kMiB);
  pool.reset();
  const int calls = Counted::calls;
  void* all = pool.allocate(4 * kMiB);
  std::memset(all, 1, 4 * kMiB);
  CHECK(Counted::calls == calls);
  pool.reset();
  CHECK(pool.allocate(10) == all);
}

TEST_CASE("pool: overlapping lifetimes use no more than the live memory") {
  Pool<Counted> pool;
  void* previous = pool.allocate(64 * 1024);
  for (int i = 0; i < 500; ++i) {
    void* next = pool.allocate(64 * 1024);
    pool.release(previous);
    previous = next;
  }
  CHECK(pool.capacity() <= kMiB);
}

TEST_CASE("arena and pool: recover from running out of memory and from fragmentation") {
  Arena<Scarce> arena("activations");
  Pool<Scarce> pool("gradients");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) arena.allocate(2 * kMiB), pool.allocate(2 * kMiB);
    CHECK(error_of([&] { arena.allocate(kMiB); }) == "activations need 1048576 bytes more");
    CHECK(error_of([&] { pool.allocate(kMiB); }) == "gradients need 1048576 bytes more");
    arena.rewind({});  // 4 MiB in one piece are not to be had
    pool.reset();
    CHECK(Scarce::used == 0);
  }
  std::memset(pool.allocate(3 * kMiB), 1, 3 * kMiB);
  CHECK_THROWS_AS(arena.allocate(6 * kMiB), attn::OutOfMemory);
}

TEST_CASE("buffer: owns its memory and passes it on when moved") {
  const int before = Counted::live;
  {
    Buffer<int, Counted> a(5), none(0);
    CHECK(none.data() == nullptr);
    CHECK(none.size() == 0);
    a.data()[4] = 7;
    Buffer<int, Counted> b(std::move(a));
    CHECK(b.size() == 5);
    CHECK(b.data()[4] == 7);
    none = std::move(b);
    CHECK(none.data()[4] == 7);
    none = Buffer<int, Counted>(2);
    CHECK(none.size() == 2);
    CHECK(Counted::live == before + 1);
  }
  CHECK(Counted::live == before);
}

TEST_CASE("buffer: uses the given memory resource for allocation and release") {
  static_assert(!std::is_constructible_v<Buffer<int, Placed>, int>, "which place it is of must be said");
  {
    PlacedDevice device;
    Pool<Placed> pool("gradients", Placed{1});
    device.activations.allocate(1);
    device.activations.allocate(2 * kMiB);
    pool.allocate(5);
    Buffer<int, Placed> a(device, 5), b(Placed{1}, 5), none;
    CHECK(Placed::live[0] == 0);
    CHECK(Placed::live[1] == 2);
    CHECK(Placed::live[2] == 3);
    device.activations.rewind({});
    CHECK(Placed::live[2] == 2);  // one block in place of two
    none = std::move(a);
    b = std::move(none);
    CHECK(b.size() == 5);
  }
  for (const int left : Placed::live) CHECK(left == 0);
}
