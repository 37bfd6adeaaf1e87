// Copies a safetensors file through attn's reader and writer: safetensors_copy [--as-f64] FROM TO. With --as-f64 only its
// tensors of a floating type, each number as the double that it is.
#include <deque>
#include <iostream>
#include <string_view>

#include "attn/checkpoint/safetensors.hpp"

int main(int count, char** arguments) try {
  using namespace attn;
  const bool as_double = count == 4 && std::string_view(arguments[1]) == "--as-f64";
  require(count == 3 || as_double, "usage: safetensors_copy [--as-f64] FROM TO");
  const SafetensorsFile file(arguments[count - 2]);
  if (!as_double) {
    save_safetensors(arguments[count - 1], file.tensors(), file.metadata());
    return 0;
  }
  std::deque<std::vector<double>> numbers;
  std::vector<TensorView> tensors;
  for (const TensorView& tensor : file.tensors()) {
    if (!is_floating(tensor.dtype)) continue;
    auto& all = numbers.emplace_back(static_cast<std::size_t>(tensor.elements()));
    convert_numbers<double>(tensor.dtype, tensor.bytes, all);
    tensors.push_back(tensor_view<double>(tensor.name, all, tensor.shape));
  }
  save_safetensors(arguments[count - 1], tensors);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
