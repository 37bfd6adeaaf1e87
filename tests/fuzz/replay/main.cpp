// Gives every file of a folder to a fuzz target once, without a fuzzer: fuzz_NAME FOLDER. A case that claims 2^60 bytes must
// not get them: half a gigabyte is all there is.
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <iostream>

#include "attn/core/file.hpp"
#include "support/sanitizer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count);

#ifdef ATTN_TEST_ADDRESSES  // it reserves terabytes of addresses, so that the limit is that of one allocation
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=512:allocator_may_return_null=0"; }
inline void limit_memory() {}
#else
inline void limit_memory() {
  const rlimit most{512 << 20, 512 << 20};
  attn::require(::setrlimit(RLIMIT_AS, &most) == 0, "cannot limit the memory");
}
#endif

int main(int count, char** arguments) try {
  attn::require(count == 2, "usage: ", arguments[0], " FOLDER");
  limit_memory();
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    std::cout << entry.path().filename().string() << std::endl;  // before a crash
    const std::string bytes = attn::read_file(entry.path());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++cases;
  }
  attn::require(cases > 0, arguments[1], " has no cases");
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
