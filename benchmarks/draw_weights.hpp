#pragma once
#include <cmath>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/core/random.hpp"

/// Gives an inference model random weights in the range of a freshly initialised model.
template <class Model>
void draw_weights(attn::Network<Model>& network) {
  attn::Random random(1);
  for (const auto& entry : network.parameters.entries()) {
    if (entry.cols == 1) continue;  // biases and norms
    std::vector<float> numbers(static_cast<std::size_t>(entry.size()));
    const double scale = 1 / std::sqrt(static_cast<double>(entry.cols));
    for (float& number : numbers) number = static_cast<float>(random.uniform(-2 * scale, 2 * scale));
    network.parameters.write(entry, numbers);
  }
}
