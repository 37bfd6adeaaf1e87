#pragma once
#include "attn/tape/variable.hpp"

namespace attn {

/// Throws an Error that names both layers and their widths unless x has `width` columns.
template <class Device>
void check_input(const char* layer, Index width, const Variable<Device>& x) {
  if (x.cols() == width) return;
  fail(layer, " takes an input of ", width, " columns, but ", x.layer != nullptr ? x.layer : "the layer below it",
       " gives ", x.cols(), "; make both widths the same");
}

/// Marks x as the output of this kind of layer, for error messages.
template <class Device, int Width>
Variable<Device, Width> output_of(const char* layer, Variable<Device, Width> x) {
  x.layer = layer;
  return x;
}

/// Returns the vocabulary size of a layer. Throws an Error unless it is positive and at most 2^30.
inline Index vocabulary_size(Index tokens) {
  require(tokens > 0 && tokens <= Index{1} << 30, "a layer cannot have a vocabulary of ", tokens,
          " tokens. Set the vocabulary size in the model's options to padded_size() of the tokenizer.");
  return tokens;
}

/// Takes the place of a layer that a policy does not need. Returns its input.
struct NoLayer {
  NoLayer(auto&&...) {}
  auto operator()(auto x) const { return x; }
  void for_each_parameter(auto&&) {}
};

template <class Device, int Width = dynamic>
using Identity = NoLayer;

/// A layer of a policy: made from these arguments unless it needs none. A struct without constructors needs none.
template <class Layer>
Layer construct(auto&&... arguments) {
  if constexpr (std::is_default_constructible_v<Layer>)
    return Layer();
  else
    return Layer(arguments...);
}

}  // namespace attn
