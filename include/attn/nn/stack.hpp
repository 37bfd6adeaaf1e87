#pragma once
#include <array>
#include <string>
#include <utility>

namespace attn {

/// N layers of one kind, each with parameters of its own; each is made from the same arguments.
template <class Layer, int N>
struct Stack {
  static_assert(N > 0, "attn: Stack: a stack needs at least one layer");

  std::array<Layer, N> layers;

  template <class... Arguments>
  explicit Stack(const Arguments&... arguments)
      : layers([&]<std::size_t... I>(std::index_sequence<I...>) {
          return std::array<Layer, N>{((void)I, Layer(arguments...))...};
        }(std::make_index_sequence<N>{})) {}

  auto begin() const { return layers.begin(); }
  auto end() const { return layers.end(); }
  const Layer& operator[](std::size_t i) const { return layers[i]; }
  static constexpr std::size_t size() { return N; }

  void for_each_parameter(auto&& visit) {
    for (std::size_t i = 0; i < N; ++i) visit(std::to_string(i), layers[i]);
    // What a layer shares with the layers below it (the Linformer's projections, if its policy says so).
    if constexpr (requires { layers[0].share(visit, layers[0]); })
      for (std::size_t i = 1; i < N; ++i) layers[i].share(visit, layers[0]);
  }
};

}  // namespace attn
