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

}  // namespace attn
