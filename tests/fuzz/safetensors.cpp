// Any bytes as a safetensors file: they load, or an attn::Error says why not.
#include <cstdint>
#include <cstdlib>

#include "attn/checkpoint/safetensors.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const fuzz::MemoryFile given(fuzz::text_of(bytes, count));
  try {
    const attn::SafetensorsFile file(given.path());
    attn::Index total = 0;
    for (const attn::TensorView& tensor : file.tensors()) {
      total += tensor.elements() * attn::size_of(tensor.dtype);
      std::vector<double> numbers(static_cast<std::size_t>(tensor.elements()));
      attn::convert_numbers<double>(tensor.dtype, tensor.bytes, numbers);  // reads every byte of a floating type
    }
    if (total > static_cast<attn::Index>(count)) std::abort();
  } catch (const attn::Error&) {
  }
  return 0;
}
