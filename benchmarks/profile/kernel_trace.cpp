// A library that CUDA injects into any program to trace when each kernel and copy runs, and on which stream:
//
//   CUDA_INJECTION64_PATH=$PWD/build/cuda/benchmarks/libkernel_trace.so ATTN_TRACE=trace.tsv PROGRAM...
//
// Writes one line per kernel or copy: process, stream, start and end in nanoseconds, name. benchmarks/overlap.py reads the
// trace. Traces the kernels of graphs individually, which slows them down a little.

#include <cupti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

constexpr std::size_t kBytes = std::size_t{8} << 20;
std::FILE* file = nullptr;
std::mutex mutex;

void write(std::uint32_t stream, std::uint64_t start, std::uint64_t end, const char* name) {
  std::fprintf(file, "%d\t%u\t%llu\t%llu\t%s\n", static_cast<int>(::getpid()), stream,
               static_cast<unsigned long long>(start), static_cast<unsigned long long>(end), name);
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBytes));
  *size = *buffer != nullptr ? kBytes : 0;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t filled) {
  const std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (filled > 0 && cuptiActivityGetNextRecord(buffer, filled, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      write(kernel->streamId, kernel->start, kernel->end, kernel->name);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      write(copy->streamId, copy->start, copy->end,
            copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH   ? "copy to the host"
            : copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? "copy to the GPU"
                                                                : "copy on the GPU");
    }
  }
  std::free(buffer);
}

void finish() {
  (void)cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::lock_guard lock(mutex);
  std::fflush(file);
}

}  // namespace

extern "C" int InitializeInjection() {
  const char* const path = std::getenv("ATTN_TRACE");
  file = std::fopen(path != nullptr ? path : "trace.tsv", "a");
  if (file == nullptr || cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS) {
    std::fprintf(stderr, "kernel_trace: cannot trace; is %s writable, and no other profiler running?\n",
                 path != nullptr ? path : "trace.tsv");
    return 1;
  }
  std::setvbuf(file, nullptr, _IOLBF, 1 << 16);  // line-buffered: processes can share the file
  std::atexit(finish);
  return 1;
}
