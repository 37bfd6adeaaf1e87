// Copies a safetensors file through attn's reader and writer: safetensors_copy FROM TO
#include <iostream>

#include "attn/train/safetensors.hpp"

int main(int count, char** arguments) try {
  attn::require(count == 3, "usage: safetensors_copy FROM TO");
  const attn::SafetensorsFile file(arguments[1]);
  attn::save_safetensors(arguments[2], file.tensors(), file.metadata());
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
