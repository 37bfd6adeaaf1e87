#pragma once
#include "attn/core/size.hpp"

namespace attn {

/// N layers of one kind, each with its own parameters, all constructed from the same arguments.
template <class Layer, int N = dynamic>
struct Stack {
  static_assert(N > 0 || N == dynamic, "attn: Stack: a stack needs at least one layer");

  std::vector<Layer> layers;

  explicit Stack(Size<N> count, const auto&... arguments) {
    layers.reserve(static_cast<std::size_t>(int(count)));
    for (int i = 0; i < count; ++i) layers.emplace_back(arguments...);
  }

  auto begin() const { return layers.begin(); }
  auto end() const { return layers.end(); }
  const Layer& operator[](std::size_t i) const { return layers[i]; }
  std::size_t size() const { return layers.size(); }

  void for_each_parameter(auto&& visit) {
    for (std::size_t i = 0; i < layers.size(); ++i) visit(std::to_string(i), layers[i]);
    // Parameters that a layer shares with the first, such as the table of RelativeBias.
    if constexpr (requires { layers[0].share(visit, layers[0]); })
      for (std::size_t i = 1; i < layers.size(); ++i) layers[i].share(visit, layers[0]);
  }
};

}  // namespace attn
