#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// A view of columns [first, first + count) of x. Gradients of non-overlapping slices are slices of one matrix, so neither
/// pass copies anything.
template <class Device>
Variable<Device> slice(Variable<Device> x, Index first, Index count) {
  require(first >= 0 && count >= 0 && first + count <= x.cols(), "slice: columns ", first, " to ", first + count,
          " do not exist: the activation has ", x.cols());
  Tape<Device>& tape = x.tape();
  Variable<Device> y(x.value.columns(first, count), &tape);
  if (x.slot == nullptr) return y;
  y.slot = tape.new_slot(x.rows(), count);
  bool apart = x.slot->of == nullptr;
  for (auto* other = x.slot->slices; other != nullptr; other = other->sibling)
    apart = apart && (first + count <= other->first_column || other->first_column + other->cols <= first);
  if (apart) {
    y.slot->of = x.slot;
    y.slot->first_column = first;
    y.slot->sibling = x.slot->slices;
    x.slot->slices = y.slot;
    return y;
  }
  tape.on_backward(y, [x, first, count](Tape<Device>& back, auto dy) {  // a slice of a slice, or an overlapping one
    const auto sink = back.zeroed_sink(x);
    move_rows(back.device, {.from = dy, .to = {sink.to.columns(first, count), sink.add}, .count = dy.rows});
  });
  return y;
}

template <int First, int Count, class Device, int Width>
Variable<Device, Count> slice(Variable<Device, Width> x) {
  static_assert(First >= 0 && Count > 0 && (Width == dynamic || First + Count <= Width),
                "attn: slice: these columns do not exist");
  return slice(static_cast<const Variable<Device>&>(x), First, Count);
}

/// Splits an activation into N slices of equal width: auto [q, k, v] = split<3>(qkv).
template <std::size_t N, class Device, int Width>
std::array<Variable<Device, fraction(Width, int{N})>, N> split(Variable<Device, Width> x) {
  static_assert(Width == dynamic || Width % int{N} == 0,
                "attn: split: the width must be a multiple of the number of slices");
  require(x.cols() % Index{N} == 0, "split: ", x.cols(), " columns cannot be split into ", N, " equal slices");
  const Index count = x.cols() / Index{N};
  std::array<Variable<Device, fraction(Width, int{N})>, N> slices;
  for (std::size_t i = 0; i < N; ++i)
    slices[i] = slice(static_cast<const Variable<Device>&>(x), static_cast<Index>(i) * count, count);
  return slices;
}

/// Concatenates columns: [a; b; ...] in papers. torch.cat(..., dim=1).
template <class Device>
Variable<Device> concat(std::span<const Variable<Device>> parts) {
  require(!parts.empty(), "concat: no activations. Pass at least one.");
  Index cols = 0;
  bool learns = false;
  for (const auto& part : parts) {
    require(part.rows() == parts[0].rows(), "concat: activations of ", parts[0].rows(), " and ", part.rows(),
            " rows. All must have the same number of rows.");
    cols += part.cols(), learns = learns || part.slot != nullptr;
  }
  Tape<Device>& tape = parts[0].tape();
  auto y = tape.make_result(parts[0].rows(), cols, learns);
  auto* copies = tape.device.tape_nodes.template array<Variable<Device>>(std::ssize(parts));
  const std::span<const Variable<Device>> from(copies, std::uninitialized_copy(parts.begin(), parts.end(), copies));
  Index first = 0;
  for (const auto& part : from) {
    move_rows(tape.device, {.from = part.value, .to = {y.value.columns(first, part.cols())}, .count = part.rows()});
    first += part.cols();
  }
  tape.on_backward(y, [from](Tape<Device>& back, auto dy) {
    Index at = 0;
    for (const auto& part : from) {
      if (part.slot != nullptr)
        move_rows(back.device, {.from = dy.columns(at, part.cols()), .to = back.sink(part), .count = dy.rows});
      at += part.cols();
    }
  });
  return y;
}
template <class Device>
Variable<Device> concat(const std::vector<Variable<Device>>& parts) {
  return concat(std::span<const Variable<Device>>(parts));
}
template <class Device, int... Widths>
Variable<Device, total(Widths...)> concat(Variable<Device, Widths>... parts) {
  return concat(std::span<const Variable<Device>>(std::array<Variable<Device>, sizeof...(parts)>{parts...}));
}

/// Repeats each head `times` times, for the keys or values of grouped-query attention.
template <class Device>
Variable<Device> repeat_heads(Variable<Device> x, Index heads, Index times) {
  if (times == 1) return x;
  require(heads > 0 && x.cols() % heads == 0, "repeat_heads: ", x.cols(), " columns are not a multiple of ", heads,
          " heads");
  Tape<Device>& tape = x.tape();
  const Index width = x.cols() / heads;
  auto y = tape.result(x.rows(), times * x.cols(), x);
  repeat_heads(tape.device, {.x = x.value, .width = width, .times = times, .y = y.value});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    repeat_heads_gradient(back.device, {.dy = dy, .width = width, .times = times, .dx = back.sink(x)});
  });
  return y;
}

}  // namespace attn
