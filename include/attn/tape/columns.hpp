#pragma once
#include "attn/tape/tape.hpp"

namespace attn {

/// Cuts an activation into slices of these widths, side by side: auto [keys, values] = cut<48, 16>(tape, x). Nothing is
/// copied, neither here nor in the backward pass, where the slices' gradients are slices of one.
template <int... Widths, class Device, int Width>
std::tuple<Variable<Device, Widths>...> cut(Tape<Device>& tape, Variable<Device, Width> x) {
  static_assert(((Widths > 0) && ...) && (Widths + ...) == Width,
                "attn: cut: the slices' widths must add up to the whole's");
  require(x.slot == nullptr || (x.slot->of == nullptr && x.slot->slices == nullptr),
          "cut: this activation is cut into slices already, or is one; cut a whole one, once");
  Index first = 0;
  const auto slice = [&]<int Part>(std::integral_constant<int, Part>) {
    Variable<Device, Part> y{x.value.columns(first, Part), tape.new_slot(x.rows(), Part)};
    if (y.slot != nullptr) {
      y.slot->of = x.slot;
      y.slot->first_column = first;
      y.slot->sibling = x.slot->slices;
      x.slot->slices = y.slot;
    }
    first += Part;
    return y;
  };
  return {slice(std::integral_constant<int, Widths>{})...};  // braces: from left to right
}

/// Activations side by side: [a; b; ...] in the papers. torch.cat(..., dim=1).
template <class Device, int... Widths>
Variable<Device, (Widths + ...)> join(Tape<Device>& tape, Variable<Device, Widths>... parts) {
  const Index rows = std::get<0>(std::tuple{parts...}).rows();
  require(((parts.rows() == rows) && ...), "join: activations of different numbers of rows cannot stand side by side");
  auto y = tape.template make<(Widths + ...)>(rows);
  const auto copy = [](Device& device, auto from, auto to) { dropout(device, {.x = from, .y = to, .dropout = {}}); };
  Index first = 0;
  (..., (copy(tape.device, parts.value, Sink<typename Device::Scalar>{y.value.columns(first, Widths)}), first += Widths));
  tape.on_backward(y, [copy, parts...](Tape<Device>& back, auto dy) {
    Index at = 0;
    (..., (copy(back.device, dy.columns(at, Widths), back.sink(parts)), at += Widths));
  });
  return y;
}

}  // namespace attn
