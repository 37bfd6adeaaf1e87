#pragma once
#include "attn/ops/optimisers.hpp"
#include "cuda/guarded.hpp"

/// count, steps, decay, coupled, amsgrad, clip. All of it in float, whatever the device computes in; the copy that models
/// compute with is checked here.
template <class Device>
Results adam_case(Device& device, const OpCase& test, Precision) {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  const attn::Index count = test.size("count");
  const attn::AdamOptions options{
      .beta2 = 0.98,
      .epsilon = 1e-9,
      .weight_decay = test.number("decay"),
      .decay = test.flag("coupled") ? attn::AdamOptions::Decay::coupled : attn::AdamOptions::Decay::decoupled,
      .amsgrad = test.flag("amsgrad"),
      .clip_norm = test.number("clip")};
  const Numbers zeros(static_cast<std::size_t>(count), 0);
  const Reals<Device> value(device, 1, count, operand(count, 1, Precision::float32)), m(device, 1, count, zeros),
      v(device, 1, count, zeros), largest(device, 1, count, zeros), squares(device, 1, 1);
  const Activations<Device> copy(device, 1, count);
  constexpr bool kSeparate = !std::is_same_v<Scalar, Real>;
  Numbers left, sums;
  for (attn::Index step = 1; step <= test.size("steps", 3); ++step) {
    const Reals<Device> gradient(
        device, 1, count, operand(count, static_cast<std::uint64_t>(step) + 1, Precision::float32, step == 1 ? 4 : 1));
    sum_of_squares(device, {.x = gradient.data(), .count = count, .total = squares.data()});
    attn::AdamArgs<Device> args{.value = value.data(),
                                .gradient = gradient.data(),
                                .m = m.data(),
                                .v = v.data(),
                                .largest_v = options.amsgrad ? largest.data() : nullptr,
                                .count = count,
                                .squares = squares.data(),
                                .options = options,
                                .rate = 1e-2,
                                .step = step};
    if constexpr (kSeparate)
      args.compute = copy.data();
    else
      args.compute = value.data();
    adam(device, args);
    left = joined({left, gradient.read("gradient")});
    sums = joined({sums, squares.read("squares")});
  }
  const Numbers values = value.read("value"), copies = copy.read("compute");
  for (std::size_t i = 0; i < values.size() && kSeparate; ++i)
    attn::require(copies[i] == rounded(values[i], Precision::bfloat16), "adam: compute[", i, "] is ", copies[i], " beside ",
                  values[i]);
  return {{.name = "value", .numbers = values, .in_float = true},
          {.name = "m", .numbers = m.read("m"), .in_float = true},
          {.name = "v", .numbers = v.read("v"), .in_float = true},
          {.name = "squares", .numbers = sums, .in_float = true, .floor = 0x1p-21},  // sums of many: luck
          {.name = "gradient", .numbers = left, .exact = true}};
}
