#pragma once
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/checkpoint/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// A named tensor that does not own its numbers; row-major.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Index> shape;
  const void* bytes = nullptr;

  Index elements() const {
    Index count = 1;
    for (const Index extent : shape) count *= extent;
    return count;
  }
};

/// Views numbers in memory as a tensor: tensor_view<float>("output.bias", bias, {8000}).
template <class T>
TensorView tensor_view(std::string name, std::span<const T> values, std::vector<Index> shape) {
  TensorView view{std::move(name), dtype_of<T>, std::move(shape), values.data()};
  require(view.elements() == std::ssize(values), "tensor '", view.name, "': its shape has ", view.elements(),
          " elements, but there are ", values.size(), " values");
  return view;
}

/// Key-value metadata of a file.
using Metadata = std::map<std::string, std::string>;

}  // namespace attn
