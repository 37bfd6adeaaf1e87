#pragma once
#include <array>
#include <functional>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/core/gradient_range.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/random.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/tape/variable.hpp"

namespace attn {

/// What a tape does beside computing. Training and inference run the same forward; the only difference is here.
struct TapeMode {
  bool record = false;   // remember how to go backward
  bool dropout = false;  // drop activations at the layers' rates
  RandomKey key{};       // of this step's dropout masks

  static TapeMode inference() { return {}; }
  /// Step `step` of the training run that `seed` names.
  static TapeMode training(std::uint64_t seed, std::uint64_t step) { return {true, true, derive(key_of_seed(seed), step)}; }
  /// With gradients but without dropout.
  static TapeMode gradients() { return {true, false, {}}; }
};

template <class Device>
struct AttentionWeights;  // tape/attention.hpp

/// The record of one forward pass, and the memory of its activations, which it takes back when it ends.
///
/// A differentiable function computes its value on the tape's device and leaves a closure that computes its gradient:
///
///     auto y = tape.template make<Width>(x.rows());
///     some_op(tape.device, {.x = x.value, .y = y.value});
///     tape.on_backward(y, [x](Tape<Device>& tape, auto dy) { some_op_gradient(tape.device, {.dy = dy, .dx =
///     tape.sink(x)}); });
///
/// Closures hold views only, so they are placed in an arena and never destroyed; a tape that does not record leaves
/// nothing.
template <class Device>
class Tape {
 public:
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  explicit Tape(Device& on, TapeMode mode = TapeMode::inference())
      : device(on), mode_(mode), activations_(on.activations.mark()), nodes_(on.tape_nodes.mark()) {
    if (!mode_.record) return;
    require(!device.gradients.lent, "Tape: this device has a tape that records; end that one before another begins");
    device.gradients.lent = true;
  }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape() {
    if constexpr (requires { device.finish_held_back(); }) device.finish_held_back();
    device.activations.rewind(activations_);
    device.tape_nodes.rewind(nodes_);
    if (!mode_.record) return;
    device.gradients.reset();
    device.gradients.lent = false;
  }

  Device& device;
  std::vector<AttentionWeights<Device>>* attention_weights = nullptr;  // where attention leaves its weights, if set
  std::function<void(GradientRange<Real>)>* on_complete = nullptr;     // told of gradients that are complete, if set
  bool recording() const { return mode_.record; }

  /// A new activation, its values not yet set.
  template <int Width>
  Variable<Device, Width> make(Index rows) {
    return {{array<Scalar>(rows * Width), rows, Width}, new_slot(rows, Width)};
  }

  /// Memory on the device that lives as long as the tape.
  template <class T>
  T* array(Index count) {
    return device.activations.template array<T>(count);
  }

  /// A copy on the device of values on the host.
  template <class T>
  T* upload(const T* host, Index count) {
    T* copy = array<T>(count);
    device.upload(copy, host, count);
    return copy;
  }

  /// Dropout at this rate with a mask of its own, or none where the tape does not drop.
  Dropout dropout(float rate) {
    require(rate >= 0 && rate < 1, "dropout: a rate of ", rate, " is not in [0, 1)");
    if (!mode_.dropout || rate == 0) return {};
    return {rate, derive(mode_.key, masks_++)};
  }

  /// Runs gradient(tape, dy) in the backward pass, when dy, the gradient of y, is complete. It may overwrite dy.
  template <int Width, class Gradient>
  void on_backward(Variable<Device, Width> y, Gradient gradient) {
    on_backward(std::tuple{y}, std::move(gradient));
  }

  /// The same for a function of several results: gradient(tape, dy1, dy2, ...), where those that nothing depends on are
  /// empty.
  template <int... Widths, class Gradient>
  void on_backward(std::tuple<Variable<Device, Widths>...> results, Gradient gradient) {
    static_assert(std::is_trivially_destructible_v<Gradient>, "attn: Tape: a gradient's closure may hold views only");
    if (!mode_.record) return;
    using Slots = std::array<GradientSlot<Device>*, sizeof...(Widths)>;
    struct Holder : Node {
      Holder(Gradient g, const Slots& s) : closure(std::move(g)), slots(s) {}
      Gradient closure;
      Slots slots;
    };
    const Slots slots = std::apply([](auto... y) { return Slots{y.slot...}; }, results);
    auto* node = new (device.tape_nodes.allocate(sizeof(Holder))) Holder(std::move(gradient), slots);
    node->run = [](Node* self, Tape& tape) {
      auto& holder = *static_cast<Holder*>(self);
      bool needed = false;
      for (auto* slot : holder.slots) {
        if (slot->gradient.empty()) continue;  // nothing depends on this one
        tape.complete(*slot);
        needed = true;
      }
      if (!needed) return;
      std::apply([&](auto*... slot) { holder.closure(tape, slot->gradient...); }, holder.slots);
      for (auto* slot : holder.slots)
        if (!slot->gradient.empty() && !slot->of) tape.release(slot->gradient);
    };
    node->previous = last_;
    last_ = node;
  }

  /// Said by a model before a layer computes: when the backward pass is back here, the gradients of the layer's parameters are
  /// complete, and can go to other processes while the pass goes on.
  template <class Layer>
  void begin_layer(const Layer& layer) {
    if (!mode_.record || on_complete == nullptr) return;
    struct Reached : Node {
      GradientRange<Real> range;
    };
    auto* node = new (device.tape_nodes.allocate(sizeof(Reached))) Reached;
    node->range = gradient_range<Device>(layer);
    node->run = [](Node* self, Tape& tape) { (*tape.on_complete)(static_cast<Reached*>(self)->range); };
    node->previous = last_;
    last_ = node;
  }

  /// Where a contribution to the gradient of x goes.
  template <int Width>
  Sink<Scalar> sink(Variable<Device, Width> x) {
    GradientSlot<Device>& slot = *x.slot;
    const bool add = !slot.gradient.empty() || (slot.of && slot.of->whole);
    if (slot.gradient.empty()) place(slot);
    if (!slot.whole) complete(slot), slot.whole = true;
    return {slot.gradient, add};
  }

  /// Memory for the length of one gradient's computation; give it back with release.
  template <class T>
  Matrix<T> scratch(Index rows, Index cols) {
    return {static_cast<T*>(device.gradients.allocate(static_cast<std::size_t>(rows * cols) * sizeof(T))), rows, cols};
  }
  template <class T>
  void release(Matrix<T> matrix) {
    device.gradients.release(matrix.data);
  }

  /// From the loss, which has set the gradient of what it was computed from, back to the parameters.
  void backward() {
    require(mode_.record,
            "backward: this tape does not record; begin it with TapeMode::training(seed, step) or TapeMode::gradients()");
    for (; last_ != nullptr; last_ = last_->previous) last_->run(last_, *this);
  }

  GradientSlot<Device>* new_slot(Index rows, Index cols) {
    if (!mode_.record) return nullptr;
    auto* slot = new (device.tape_nodes.allocate(sizeof(GradientSlot<Device>))) GradientSlot<Device>;
    slot->rows = rows;
    slot->cols = cols;
    return slot;
  }

 private:
  struct Node {
    void (*run)(Node*, Tape&) = nullptr;
    Node* previous = nullptr;
  };

  void place(GradientSlot<Device>& slot) {
    if (slot.of) {
      if (slot.of->gradient.empty()) place(*slot.of);
      slot.gradient = slot.of->gradient.columns(slot.first_column, slot.cols);
    } else {
      slot.gradient = scratch<Scalar>(slot.rows, slot.cols);
    }
  }

  /// Slices that nothing contributed to have gradient 0.
  void complete(GradientSlot<Device>& slot) {
    for (auto* slice = slot.slices; slice != nullptr && !slot.whole; slice = slice->sibling)
      if (slice->gradient.empty()) {
        place(*slice);
        device.zero(slice->gradient);
      }
  }

  TapeMode mode_;
  typename Arena<typename Device::Memory>::Mark activations_;
  Arena<HostMemory>::Mark nodes_;
  Node* last_ = nullptr;
  std::uint64_t masks_ = 0;
};

/// Cuts an activation into N of equal width, side by side: auto [q, k, v] = split<3>(tape, qkv). Nothing is copied, neither
/// here nor in the backward pass, where the slices' gradients are slices of one.
template <int N, class Device, int Width>
std::array<Variable<Device, Width / N>, N> split(Tape<Device>& tape, Variable<Device, Width> x) {
  static_assert(Width % N == 0, "attn: split: the width must be a multiple of the number of slices");
  require(x.slot == nullptr || (x.slot->of == nullptr && x.slot->slices == nullptr),
          "split: this activation is cut into slices already, or is one; cut a whole one, once");
  std::array<Variable<Device, Width / N>, N> slices;
  for (int i = N - 1; i >= 0; --i) {
    auto& slice = slices[static_cast<std::size_t>(i)];
    slice.value = x.value.columns(i * (Width / N), Width / N);
    slice.slot = tape.new_slot(x.rows(), Width / N);
    if (slice.slot == nullptr) continue;
    slice.slot->of = x.slot;
    slice.slot->first_column = i * (Width / N);
    slice.slot->sibling = x.slot->slices;
    x.slot->slices = slice.slot;
  }
  return slices;
}

}  // namespace attn
