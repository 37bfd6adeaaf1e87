#pragma once
// Counters in place of the allocation functions. For one source file of a program, which is linked with
// -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=posix_memalign.

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocations{0};      // ever made
std::atomic<long long> bytes_held{0};  // by operator new

}  // namespace

extern "C" {
void* __real_malloc(std::size_t);
void* __real_calloc(std::size_t, std::size_t);
void* __real_realloc(void*, std::size_t);
void* __real_aligned_alloc(std::size_t, std::size_t);
int __real_posix_memalign(void**, std::size_t, std::size_t);

void* __wrap_malloc(std::size_t size) { return ++allocations, __real_malloc(size); }
void* __wrap_calloc(std::size_t count, std::size_t size) { return ++allocations, __real_calloc(count, size); }
void* __wrap_realloc(void* block, std::size_t size) { return ++allocations, __real_realloc(block, size); }
void* __wrap_aligned_alloc(std::size_t to, std::size_t size) { return ++allocations, __real_aligned_alloc(to, size); }
int __wrap_posix_memalign(void** block, std::size_t to, std::size_t size) {
  return ++allocations, __real_posix_memalign(block, to, size);
}
}

namespace {

void* take(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* block = nullptr;
  if (__real_posix_memalign(&block, std::max(alignment, sizeof(void*)), std::max<std::size_t>(size, 1)) != 0)
    return nullptr;
  bytes_held += static_cast<long long>(malloc_usable_size(block));
  return block;
}
void* take_or_throw(std::size_t size, std::size_t alignment) {
  void* block = take(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void give_back(void* block) {
  if (block == nullptr) return;
  bytes_held -= static_cast<long long>(malloc_usable_size(block));
  std::free(block);
}

constexpr std::size_t kUsual = alignof(std::max_align_t);

}  // namespace

// The other forms of new and delete call these.
void* operator new(std::size_t size) { return take_or_throw(size, kUsual); }
void* operator new[](std::size_t size) { return take_or_throw(size, kUsual); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size, kUsual); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size, kUsual); }
void* operator new(std::size_t size, std::align_val_t to) { return take_or_throw(size, static_cast<std::size_t>(to)); }
void* operator new[](std::size_t size, std::align_val_t to) { return take_or_throw(size, static_cast<std::size_t>(to)); }
void* operator new(std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return take(size, static_cast<std::size_t>(to));
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
