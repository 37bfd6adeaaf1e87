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
#include "attn/core/parameter.hpp"
#include "attn/core/random.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/tape/variable.hpp"

namespace attn {

/// What a tape does besides computing. Training and inference run the same forward code and differ only in this mode.
struct TapeMode {
  bool record = false;   // store what the backward pass needs
  bool dropout = false;  // apply dropout at the layers' rates
  RandomKey key{};       // of this step's dropout masks

  static TapeMode inference() { return {}; }
  /// Step `step` of the training run that `seed` names.
  static TapeMode training(std::uint64_t seed, std::uint64_t step) { return {true, true, derive(key_of_seed(seed), step)}; }
  /// With gradients but without dropout.
  static TapeMode gradients() { return {true, false, {}}; }
};

template <class Device>
struct AttentionWeights;  // tape/attention.hpp

/// The record of one forward pass. It owns the memory of the pass's activations and frees it when it ends.
///
/// A differentiable function computes its value on the tape's device and adds a closure that computes its gradient:
///
///     Tape<Device>& tape = x.tape();
///     auto y = tape.result(x.rows(), x.cols(), x);  // y has a gradient if x has one
///     some_op(tape.device, {.x = x.value, .y = y.value});
///     tape.on_backward(y, [x](Tape<Device>& back, auto dy) {
///       some_op_gradient(back.device, {.dy = dy, .dx = back.sink(x)});
///     });
///
/// Closures hold views only. They are placed in an arena and never destroyed. A tape that does not record stores none.
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
  std::vector<AttentionWeights<Device>>* attention_weights = nullptr;  // if set, attention appends its weights here
  std::function<void(GradientRange<Real>)>* on_complete = nullptr;     // if set, called when gradients are complete
  bool recording() const { return mode_.record; }

  /// A new activation with uninitialised values, and a gradient if the tape records.
  Variable<Device> make(Index rows, Index cols) { return make_result(rows, cols, true); }

  /// The result of a function of these activations and parameters. It has a gradient if one of them does.
  template <class... From>
  Variable<Device> result(Index rows, Index cols, const From&... from) {
    return make_result(rows, cols, (wants_gradient(from) || ...));
  }
  Variable<Device> make_result(Index rows, Index cols, bool gradient) {
    return Variable<Device>({array<Scalar>(rows * cols), rows, cols}, this, gradient ? new_slot(rows, cols) : nullptr);
  }

  /// A view of memory that lives as long as the tape, as an activation without a gradient.
  Variable<Device> constant(Matrix<Scalar> matrix) { return Variable<Device>(matrix, this); }

  /// Memory on the device that lives as long as the tape.
  template <class T>
  T* array(Index count) {
    return device.activations.template array<T>(count);
  }

  /// A value in host memory that lives as long as the tape.
  template <class T>
  T* node(const T& value) {
    static_assert(std::is_trivially_destructible_v<T>, "attn: Tape: what a tape keeps may hold views only");
    return new (device.tape_nodes.allocate(sizeof(T))) T(value);
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
  template <class Gradient>
  void on_backward(Variable<Device> y, Gradient gradient) {
    on_backward(std::array{y}, std::move(gradient));
  }

  /// The same for a function of several results: gradient(tape, dy1, dy2, ...). The gradient of a result that nothing
  /// depends on is empty.
  template <std::size_t N, class Gradient>
  void on_backward(const std::array<Variable<Device>, N>& results, Gradient gradient) {
    static_assert(std::is_trivially_destructible_v<Gradient>, "attn: Tape: a gradient's closure may hold views only");
    using Slots = std::array<GradientSlot<Device>*, N>;
    Slots slots;
    bool wanted = false;
    for (std::size_t i = 0; i < N; ++i) slots[i] = results[i].slot, wanted |= slots[i] != nullptr;
    if (!wanted) return;
    struct Holder : Node {
      Holder(Gradient g, const Slots& s) : closure(std::move(g)), slots(s) {}
      Gradient closure;
      Slots slots;
    };
    auto* node = new (device.tape_nodes.allocate(sizeof(Holder))) Holder(std::move(gradient), slots);
    node->run = [](Node* self, Tape& tape) {
      auto& holder = *static_cast<Holder*>(self);
      bool needed = false;
      for (auto* slot : holder.slots) {
        if (slot == nullptr) continue;
        if (slot->gradient.empty() && slot->of != nullptr && slot->of->whole) tape.place(*slot);  // a slice of what is used
        if (slot->gradient.empty()) continue;  // nothing depends on this one
        tape.complete(*slot);
        needed = true;
      }
      if (!needed) return;
      const auto gradient_of = [](auto* slot) { return slot == nullptr ? Matrix<Scalar>{} : slot->gradient; };
      std::apply([&](auto*... slot) { holder.closure(tape, gradient_of(slot)...); }, holder.slots);
      for (auto* slot : holder.slots)
        if (slot != nullptr && !slot->gradient.empty() && !slot->of) tape.release(slot->gradient);
    };
    node->previous = last_;
    last_ = node;
  }

  /// Marks where a layer begins. When the backward pass reaches this point, the gradients of the layer's parameters are
  /// complete and can be sent to other processes while the pass continues.
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

  /// Where a contribution to the gradient of x goes; empty if x wants none.
  Sink<Scalar> sink(Variable<Device> x) { return x.slot == nullptr ? Sink<Scalar>{} : sink(*x.slot); }
  Sink<Scalar> sink(GradientSlot<Device>& slot) {
    const bool add = !slot.gradient.empty() || (slot.of && slot.of->whole);
    if (slot.gradient.empty()) place(slot);
    if (add) complete(slot);
    for (auto* slice = slot.slices; slice != nullptr; slice = slice->sibling)
      if (slice->gradient.empty()) place(*slice);  // a function may have slices as results
    slot.whole = true;
    return {slot.gradient, add};
  }

  /// Memory for the computation of one gradient; free it with release.
  template <class T>
  Matrix<T> scratch(Index rows, Index cols) {
    return {static_cast<T*>(device.gradients.allocate(static_cast<std::size_t>(rows * cols) * sizeof(T))), rows, cols};
  }
  template <class T>
  void release(Matrix<T> matrix) {
    device.gradients.release(matrix.data);
  }

  /// Runs the backward pass from the gradients that have been set. Loss::backward() sets them and calls this.
  void backward() {
    require(mode_.record,
            "backward: this tape does not record; begin it with TapeMode::training(seed, step) or TapeMode::gradients()");
    require(!std::exchange(backward_, true),
            "backward: this tape's backward pass has run already; compute the loss again, on "
            "a new tape");
    for (; last_ != nullptr; last_ = last_->previous) last_->run(last_, *this);
  }
  bool ran_backward() const { return backward_; }

  GradientSlot<Device>* new_slot(Index rows, Index cols) {
    if (!mode_.record) return nullptr;
    auto* slot = new (device.tape_nodes.allocate(sizeof(GradientSlot<Device>))) GradientSlot<Device>;
    slot->rows = rows;
    slot->cols = cols;
    return slot;
  }

  [[no_unique_address]] TapeLife life;
  const std::uint64_t number = device.tapes_begun++;  // tapes of a device that begin later have larger numbers

 private:
  struct Node {
    void (*run)(Node*, Tape&) = nullptr;
    Node* previous = nullptr;
  };

  static bool wants_gradient(const Variable<Device>& x) { return x.slot != nullptr; }
  static bool wants_gradient(const auto& parameter) requires requires { parameter.learns(); }
  { return parameter.learns(); }

  void place(GradientSlot<Device>& slot) {
    if (slot.of) {
      if (slot.of->gradient.empty()) place(*slot.of);
      slot.gradient = slot.of->gradient.columns(slot.first_column, slot.cols);
    } else {
      slot.gradient = scratch<Scalar>(slot.rows, slot.cols);
    }
  }

  /// Columns that nothing contributed to have gradient 0: those of slices that nothing uses, and those outside all slices.
  void complete(GradientSlot<Device>& slot) {
    if (slot.whole || slot.slices == nullptr) return;
    for (auto* slice = slot.slices; slice != nullptr; slice = slice->sibling)
      if (slice->gradient.empty()) {
        place(*slice);
        device.zero(slice->gradient);
      }
    for (Index first = 0; first < slot.cols;) {  // slices do not overlap, but are in no order
      Index begin = slot.cols, end = slot.cols;  // of the next slice
      for (const auto* slice = slot.slices; slice != nullptr; slice = slice->sibling)
        if (slice->cols > 0 && slice->first_column >= first && slice->first_column < begin)
          begin = slice->first_column, end = begin + slice->cols;
      if (begin > first) device.zero(slot.gradient.columns(first, begin - first));
      first = end;
    }
  }

  TapeMode mode_;
  typename Arena<typename Device::Memory>::Mark activations_;
  Arena<HostMemory>::Mark nodes_;
  Node* last_ = nullptr;
  std::uint64_t masks_ = 0;
  bool backward_ = false;
};

/// The tape of the two that began later: results of a step of decoding live on the step's tape.
template <class Device>
Tape<Device>& innermost(const Variable<Device>& a, const Variable<Device>& b) {
  return a.tape().number > b.tape().number ? a.tape() : b.tape();
}

}  // namespace attn
