#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

/// y = x Wᵀ + b. Glorot's uniform initialisation. torch.nn.Linear.
///
///     Linear<Device, 512, 2048> layer;         // sizes in the type: the compiler checks them
///     Linear<Device> layer(512, 2048);         // sizes at run time
template <class Device, int In = dynamic, int Out = dynamic>
struct Linear {
  static_assert((In > 0 || In == dynamic) && (Out > 0 || Out == dynamic), "attn: Linear: widths must be positive");

  Parameter<Device> weight, bias;

  Linear() requires(In != dynamic && Out != dynamic) : Linear(In, Out) {}
  Linear(Size<In> in, Size<Out> out) : weight{out, in, Initial::xavier(in, out)}, bias{out, 1} {}

  Variable<Device, Out> operator()(Variable<Device, In> x) const {
    check_input("Linear", weight.cols, x);
    return output_of<Device, Out>("Linear", linear(x, weight, bias));
  }

  /// Some of its outputs: those of rows first to first + count of W.
  Variable<Device> outputs(Variable<Device, In> x, Index first, Index count) const {
    require(first >= 0 && first + count <= weight.rows, "Linear: outputs ", first, " to ", first + count, " of ",
            weight.rows);
    check_input("Linear", weight.cols, x);
    return output_of<Device, dynamic>("Linear", linear(x, weight.row_range(first, count), bias.row_range(first, count)));
  }
  /// The same with bounds that the compiler checks.
  template <int First, int Count>
  Variable<Device, Count> outputs(Variable<Device, In> x) const {
    static_assert(First >= 0 && (Out == dynamic || First + Count <= Out), "attn: Linear: these outputs do not exist");
    return outputs(x, First, Count);
  }

  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    visit("bias", bias);
  }
};

/// y = x Wᵀ: a matrix and nothing else. torch.nn.Linear(bias=False).
template <class Device, int In = dynamic, int Out = dynamic>
struct Projection {
  static_assert((In > 0 || In == dynamic) && (Out > 0 || Out == dynamic), "attn: Projection: widths must be positive");

  Parameter<Device> weight;

  Projection() requires(In != dynamic && Out != dynamic) : Projection(In, Out) {}
  Projection(Size<In> in, Size<Out> out) : weight{out, in, Initial::xavier(in, out)} {}

  Variable<Device, Out> operator()(Variable<Device, In> x) const {
    check_input("Projection", weight.cols, x);
    return output_of<Device, Out>("Projection", linear(x, weight));
  }

  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

}  // namespace attn
