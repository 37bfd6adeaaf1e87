// Any bytes as a safetensors file: they load, or an attn::Error says why not.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "attn/train/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const int handle = ::memfd_create("case", MFD_CLOEXEC);
  if (handle < 0 || ::write(handle, bytes, count) != static_cast<ssize_t>(count)) std::abort();
  try {
    const attn::SafetensorsFile file("/proc/self/fd/" + std::to_string(handle));
    attn::Index total = 0;
    for (const attn::TensorView& tensor : file.tensors()) {
      total += tensor.elements() * attn::size_of(tensor.dtype);
      std::vector<double> numbers(static_cast<std::size_t>(tensor.elements()));
      attn::convert_numbers<double>(tensor.dtype, tensor.bytes, numbers);  // reads every byte of a floating type
    }
    if (total > static_cast<attn::Index>(count)) std::abort();
  } catch (const attn::Error&) {
  }
  ::close(handle);
  return 0;
}
