#pragma once
#include <sys/mman.h>

#include <map>
#include <new>

#include "attn/core/matrix.hpp"
#include "attn/core/random.hpp"

namespace attn {

inline constexpr std::size_t kAlignment = 256;  // of every allocation: suits cache lines, vectors and coalesced access

constexpr std::size_t align_up(std::size_t bytes, std::size_t to = kAlignment) { return (bytes + to - 1) / to * to; }

/// Requests huge pages for the aligned inside of a large block: fewer page faults at the first write and fewer TLB misses.
/// Falls back to small pages.
inline void prefer_large_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

/// The host allocator. A device with its own memory has a struct with the same two functions; they are members if the
/// struct knows its device.
struct HostMemory {
  static void* allocate(std::size_t bytes, const char* what) {
    void* block = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (block == nullptr)
      fail<OutOfMemory>("out of memory: ", what, " need ", bytes >> 20,
                        " MiB more; lower the batch size or the model's width");
    prefer_large_pages(block, bytes);
    return block;
  }
  static void release(void* block) noexcept { ::operator delete (block, std::align_val_t{kAlignment}); }
};

/// A matrix in the memory of a device.
template <class Device, class T>
using MatrixOn = std::conditional_t<std::is_same_v<typename Device::Memory, HostMemory>, Matrix<T>, DeviceMatrix<T>>;

/// A bump allocator that frees everything at once. A full arena grows by another block. Rewinding it to empty merges the
/// blocks into one of the peak size. After the first step of a kind it therefore allocates nothing, and equal requests get
/// equal addresses.
template <class Memory>
class Arena {
 public:
  struct Mark {
    std::size_t block = 0, used = 0;
  };

  /// `what`: the contents, in the plural, for out-of-memory errors.
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
      } catch (const Error&) {  // rewind runs in destructors and must not throw; the next request reports the error
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
  std::size_t most_ = 0;  // peak bytes in use, including unused ends of blocks
};

/// Memory for gradients, whose lifetimes overlap: blocks are freed in any order and free neighbours merge (first fit). In
/// the backward pass an activation's gradient lives from its last consumer to its producer, so the pool holds only a few
/// layers' gradients.
template <class Memory>
class Pool {
 public:
  explicit Pool(const char* what = "numbers", Memory memory = {}) : arena_(what, memory) {}

  void* allocate(std::size_t bytes) {
    bytes = std::max(align_up(bytes), kAlignment);  // at least one unit, so that every block has its own address
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

  void reset() {
    std::size_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.size;
    chunks_.clear();
    arena_.rewind({});
    if (total > 0 && arena_.capacity() >= total)  // otherwise allocate again on demand
      chunks_.push_back({static_cast<std::byte*>(arena_.allocate(total)), total, true, true});
  }

  std::size_t capacity() const { return arena_.capacity(); }
  bool lent = false;           // to a recording tape; at most one at a time
  std::uint64_t passes = 0;    // completed backward passes
  RandomKey dropout_key = {};  // of the last pass, if it had dropout

  /// Counts a backward pass. `trained` identifies the model: the gradient of one of its parameters, or null.
  void end_pass(RandomKey key, const void* trained) {
    repeated_masks = adds_up_ && (repeated_masks ||
                                  (key == dropout_key && key != RandomKey{} && trained == trained_ && trained != nullptr));
    dropout_key = key;
    trained_ = trained;
    adds_up_ = true;
    ++passes;
  }
  /// The gradients of the next pass do not add to those so far.
  void end_sum() { adds_up_ = false; }
  bool repeated_masks = false;  // whether gradients of passes with equal dropout masks were added

 private:
  struct Chunk {
    std::byte* data;
    std::size_t size;
    bool free, first;  // first: starts an arena block, so it does not continue the chunk before it
  };

  void merge(std::size_t i) {  // chunk i with the one after it
    if (!chunks_[i].free || !chunks_[i + 1].free || chunks_[i + 1].first) return;
    chunks_[i].size += chunks_[i + 1].size;
    chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }

  Arena<Memory> arena_;
  std::vector<Chunk> chunks_;
  const void* trained_ = nullptr;  // of the last pass
  bool adds_up_ = false;
};

/// An array with the lifetime of its owner: parameters, optimiser state, position tables.
template <class T, class Memory>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t count, const char* what = "numbers") requires std::is_empty_v<Memory>
      : Buffer(Memory{}, count, what) {}
  Buffer(Memory memory, std::int64_t count, const char* what = "numbers")
      : data_(count > 0 ? static_cast<T*>(memory.allocate(static_cast<std::size_t>(count) * sizeof(T), what)) : nullptr,
              Release{memory}),
        size_(count) {}
  template <class Device>
  requires std::is_same_v<typename Device::Memory, Memory> Buffer(const Device& device, std::int64_t count,
                                                                  const char* what = "numbers")
      : Buffer(device.activations.memory(), count, what) {}

  T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }

 private:
  struct Release {
    [[no_unique_address]] Memory memory;
    void operator()(T* data) const noexcept { memory.release(data); }
  };
  std::unique_ptr<T, Release> data_;
  std::int64_t size_ = 0;
};

}  // namespace attn
