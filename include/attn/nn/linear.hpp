#pragma once
#include "attn/tape/linear.hpp"

namespace attn {

/// y = x Wᵀ + b. Glorot's uniform initialisation. torch.nn.Linear.
template <class Device, int In, int Out>
struct Linear {
  static_assert(In > 0 && Out > 0, "attn: Linear: widths must be positive");

  Parameter<Device> weight{Out, In, Initial::xavier(In, Out)};
  Parameter<Device> bias{Out, 1};

  Variable<Device, Out> operator()(Tape<Device>& tape, Variable<Device, In> x) const {
    return linear<Out>(tape, x, weight, bias);
  }

  /// Some of its outputs: those of rows First to First + Count of W.
  template <int First, int Count>
  Variable<Device, Count> outputs(Tape<Device>& tape, Variable<Device, In> x) const {
    static_assert(First >= 0 && First + Count <= Out, "attn: Linear: these outputs do not exist");
    return linear<Count>(tape, x, weight.row_range(First, Count), bias.row_range(First, Count));
  }

  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    visit("bias", bias);
  }
};

/// y = x Wᵀ: a matrix and nothing else. torch.nn.Linear(bias=False).
template <class Device, int In, int Out>
struct Projection {
  static_assert(In > 0 && Out > 0, "attn: Projection: widths must be positive");

  Parameter<Device> weight{Out, In, Initial::xavier(In, Out)};

  Variable<Device, Out> operator()(Tape<Device>& tape, Variable<Device, In> x) const {
    return linear<Out>(tape, x, weight, Parameter<Device>{});
  }

  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

}  // namespace attn
