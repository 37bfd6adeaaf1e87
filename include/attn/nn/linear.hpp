#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

template <class Device, int In, int Out, bool Bias>
struct LinearOf {
  static constexpr const char* name = Bias ? "Linear" : "Projection";
  static_assert((In > 0 || In == dynamic) && (Out > 0 || Out == dynamic), "attn: Linear: widths must be positive");

  Parameter<Device> weight, bias;  // a Projection's bias is empty

  LinearOf() requires(In != dynamic && Out != dynamic) : LinearOf(In, Out) {}
  LinearOf(Size<In> in, Size<Out> out) : weight{out, in, Initializer::xavier(in, out)} {
    if constexpr (Bias) bias = {out, 1};
  }

  Variable<Device, Out> operator()(Variable<Device, In> x) const {
    check_input(name, weight.cols, x);
    return output_of<Device, Out>(name, linear(x, weight, bias));
  }

  /// Outputs first to first + count - 1 only, from these rows of W and b.
  Variable<Device> outputs(Variable<Device, In> x, Index first, Index count) const {
    require(first >= 0 && first + count <= weight.rows, name, ": outputs ", first, " to ", first + count,
            " do not exist: the layer has ", weight.rows);
    check_input(name, weight.cols, x);
    return output_of<Device, dynamic>(name, linear(x, weight.row_range(first, count), bias.row_range(first, count)));
  }
  template <int First, int Count>
  Variable<Device, Count> outputs(Variable<Device, In> x) const {
    static_assert(First >= 0 && (Out == dynamic || First + Count <= Out), "attn: Linear: these outputs do not exist");
    return outputs(x, First, Count);
  }

  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    if constexpr (Bias) visit("bias", bias);
  }
};

/// y = x Wᵀ + b. Glorot uniform initialisation. torch.nn.Linear.
///
///     Linear<Device, 512, 2048> layer;         // sizes in the type, checked by the compiler
///     Linear<Device> layer(512, 2048);         // sizes at run time
template <class Device, int In = dynamic, int Out = dynamic>
using Linear = LinearOf<Device, In, Out, true>;

/// y = x Wᵀ, without a bias. torch.nn.Linear(bias=False).
template <class Device, int In = dynamic, int Out = dynamic>
using Projection = LinearOf<Device, In, Out, false>;

}  // namespace attn
