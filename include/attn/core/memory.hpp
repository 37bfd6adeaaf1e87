#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"

namespace attn {

inline constexpr std::size_t kAlignment = 256;  // of every block handed out: a cache line, a vector, a coalesced access

constexpr std::size_t align_up(std::size_t bytes, std::size_t to = kAlignment) { return (bytes + to - 1) / to * to; }

/// Where blocks come from on the host. A device with its own memory has a struct with the same two functions; one that knows
/// which device it is of has members of its own.
struct HostMemory {
  static void* allocate(std::size_t bytes, const char* what) {
    void* block = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (block == nullptr)
      fail<OutOfMemory>("out of memory: ", what, " need ", bytes >> 20,
                        " MiB more; lower the batch size or the model's width");
    return block;
  }
  static void release(void* block) noexcept { ::operator delete (block, std::align_val_t{kAlignment}); }
};

/// Memory that is handed out in order and taken back all at once. When it runs out it grows by another block; when it is
/// next rewound to empty the blocks become one, as large as was needed at most. So after the first step of a kind nothing
/// is allocated, and equal requests get equal addresses.
template <class Memory>
class Arena {
 public:
  struct Mark {
    std::size_t block = 0, used = 0;
  };

  /// `what` it holds, in the plural, is named where memory runs out.
  explicit Arena(const char* what = "numbers", Memory memory = {}) : what_(what), memory_(memory) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { release_all(); }

  void* allocate(std::size_t bytes) {
    bytes = align_up(bytes);
    while (at_.block < blocks_.size() && at_.used + bytes > blocks_[at_.block].size) at_ = {at_.block + 1, 0};
    if (at_.block == blocks_.size()) add_block(std::max({bytes, kSmallestBlock, capacity() / 8}));
    void* place = blocks_[at_.block].data + at_.used;
    at_.used += bytes;
    most_ = std::max(most_, capacity_before(at_.block) + at_.used);
    return place;
  }

  template <class T>
  T* array(std::int64_t count) {
    return static_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T)));
  }

  const Memory& memory() const { return memory_; }
  Mark mark() const { return at_; }
  void rewind(Mark mark) {
    at_ = mark;
    if (mark.block == 0 && mark.used == 0 && blocks_.size() > 1) {
      release_all();
      try {
        add_block(most_);
      } catch (const Error&) {  // a tape that ends because of an error must not end the program: the next request says so
      }
    }
  }

  std::size_t capacity() const { return capacity_before(blocks_.size()); }

 private:
  struct Block {
    std::byte* data;
    std::size_t size;
  };
  static constexpr std::size_t kSmallestBlock = std::size_t{1} << 20;

  std::size_t capacity_before(std::size_t count) const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total += blocks_[i].size;
    return total;
  }
  void add_block(std::size_t bytes) { blocks_.push_back({static_cast<std::byte*>(memory_.allocate(bytes, what_)), bytes}); }
  void release_all() {
    for (const Block& block : blocks_) memory_.release(block.data);
    blocks_.clear();
    at_ = {};
  }

  const char* what_;
  [[no_unique_address]] Memory memory_;
  std::vector<Block> blocks_;
  Mark at_;
  std::size_t most_ = 0;  // bytes ever in use, with what was left over at the ends of blocks
};

/// Memory for gradients, whose lifetimes cross: blocks come back in any order and neighbours merge (first fit). In the
/// backward pass an activation's gradient lives from its last consumer to its producer, so a few layers' worth is all it
/// ever holds.
template <class Memory>
class Pool {
 public:
  explicit Pool(const char* what = "numbers", Memory memory = {}) : arena_(what, memory) {}

  void* allocate(std::size_t bytes) {
    bytes = std::max(align_up(bytes), kAlignment);  // never nothing, so that every block has an address of its own
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      if (!chunks_[i].free || chunks_[i].size < bytes) continue;
      if (chunks_[i].size > bytes) {
        const Chunk rest{chunks_[i].data + bytes, chunks_[i].size - bytes, true, false};
        chunks_[i].size = bytes;
        chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
      }
      chunks_[i].free = false;
      return chunks_[i].data;
    }
    auto* data = static_cast<std::byte*>(arena_.allocate(bytes));
    chunks_.push_back({data, bytes, false, true});
    return data;
  }

  void release(void* data) {
    std::size_t i = 0;
    while (chunks_[i].data != data) ++i;
    chunks_[i].free = true;
    if (i + 1 < chunks_.size()) merge(i);
    if (i > 0) merge(i - 1);
  }

  /// Takes everything back.
  void reset() {
    std::size_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.size;
    chunks_.clear();
    arena_.rewind({});
    if (total > 0 && arena_.capacity() >= total)  // what it could not get back in one piece it will ask for as it is needed
      chunks_.push_back({static_cast<std::byte*>(arena_.allocate(total)), total, true, true});
  }

  std::size_t capacity() const { return arena_.capacity(); }
  bool lent = false;  // to a tape that records: there can be one at a time

 private:
  struct Chunk {
    std::byte* data;
    std::size_t size;
    bool free, first;  // first: of a block, so it does not continue the chunk before it
  };

  void merge(std::size_t i) {  // chunk i with the one after it
    if (!chunks_[i].free || !chunks_[i + 1].free || chunks_[i + 1].first) return;
    chunks_[i].size += chunks_[i + 1].size;
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }

  Arena<Memory> arena_;
  std::vector<Chunk> chunks_;
};

/// An array that lives as long as its owner: parameters, optimiser state, position tables.
template <class T, class Memory>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t count, const char* what = "numbers") requires std::is_empty_v<Memory>
      : Buffer(Memory{}, count, what) {}
  Buffer(Memory memory, std::int64_t count, const char* what = "numbers")
      : memory_(memory),
        data_(count > 0 ? static_cast<T*>(memory_.allocate(static_cast<std::size_t>(count) * sizeof(T), what)) : nullptr),
        size_(count) {}
  /// In the memory of a device.
  template <class Device>
  requires std::is_same_v<typename Device::Memory, Memory> Buffer(const Device& device, std::int64_t count,
                                                                  const char* what = "numbers")
      : Buffer(device.activations.memory(), count, what) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) memory_.release(data_);
  }

  T* data() const { return data_; }
  std::int64_t size() const { return size_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  [[no_unique_address]] Memory memory_;
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace attn
