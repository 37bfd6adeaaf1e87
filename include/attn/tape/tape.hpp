#pragma once
#include <new>
#include <tuple>

#include "attn/core/parameter.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/tape/variable.hpp"

namespace attn {

/// What a tape records and whether it applies dropout. Training and inference run the same forward code.
struct TapeMode {
  bool record = false;   // store data for the backward pass
  bool dropout = false;  // apply dropout at the layers' rates
  RandomKey key{};       // of this step's dropout masks

  static TapeMode inference() { return {}; }
  /// Step `step` of a training run. Each step has its own dropout masks. Optimisers reject a step number used twice in a
  /// row.
  static TapeMode training(std::uint64_t seed, std::uint64_t step) { return {true, true, derive(key_of_seed(seed), step)}; }
  static TapeMode gradients() { return {true, false, {}}; }
};

/// Dropout whose mask number is assigned at first use.
struct PendingDropout {
  Dropout dropout;       // its key is the tape's until then
  std::uint64_t* masks;  // the tape's next mask number; null once assigned

  Dropout get() {
    if (masks != nullptr) dropout.key = derive(dropout.key, (*std::exchange(masks, nullptr))++);
    return dropout;
  }
};

/// A dropout mask as an operand. Masks are numbered from left to right when the expression is computed, because compilers
/// evaluate operands in different orders.
struct DropoutMask {
  PendingDropout* pending;  // null: no dropout
  Dropout dropout() const { return pending == nullptr ? Dropout{} : pending->get(); }
};

template <class Device>
struct AttentionWeights;  // tape/attention.hpp

/// Records one forward pass. Owns the memory of the pass's activations and frees it in its destructor.
///
/// A differentiable function computes its value on the tape's device and adds a closure for its gradient:
///
///     Tape<Device>& tape = x.tape();
///     auto y = tape.result(x.rows(), x.cols(), x);  // y has a gradient if x has one
///     some_op(tape.device, {.x = x.value, .y = y.value});
///     tape.on_backward(y, [x](Tape<Device>& back, auto dy) {
///       some_op_gradient(back.device, {.dy = dy, .dx = back.sink(x)});
///     });
///
/// Closures may hold views only: they live in an arena and are never destroyed. A tape that does not record stores none.
template <class Device>
class Tape {
 public:
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

  explicit Tape(Device& on, TapeMode mode = TapeMode::inference())
      : device(on), mode_(mode), activations_(on.activations.mark()), nodes_(on.tape_nodes.mark()) {
    if (!mode_.record) return;
    require(!device.gradients.lent, "Tape: another tape of this device is recording. End it before you create a new one.");
    device.gradients.lent = true;
  }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  ~Tape() {
    if constexpr (requires { device.finish_deferred(); }) device.finish_deferred();
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
  Variable<Device> result(Index rows, Index cols, const auto&... from) {
    return make_result(rows, cols, (wants_gradient(from) || ...));
  }
  Variable<Device> make_result(Index rows, Index cols, bool gradient) {
    return Variable<Device>(matrix(rows, cols), this, gradient ? new_slot(rows, cols) : nullptr);
  }

  /// Wraps memory that lives as long as the tape as an activation without a gradient.
  Variable<Device> constant(Matrix<Scalar> matrix) { return Variable<Device>(matrix, this); }

  /// Device memory that lives as long as the tape.
  template <class T>
  T* array(Index count) {
    return device.activations.template array<T>(count);
  }
  template <class T = Scalar>
  Matrix<T> matrix(Index rows, Index cols) {
    return {array<T>(rows * cols), rows, cols};
  }

  /// A value in host memory that lives as long as the tape.
  template <class T>
  T* node(const T& value) {
    static_assert(std::is_trivially_destructible_v<T>, "attn: Tape: an object on a tape may hold views only");
    return new (device.tape_nodes.allocate(sizeof(T))) T(value);
  }

  template <class T>
  T* upload(const T* host, Index count) {
    T* copy = array<T>(count);
    device.upload(copy, host, count);
    return copy;
  }

  /// Dropout at this rate with a new mask, or none if the tape does not apply dropout.
  Dropout dropout(float rate) { return dropout_mask(rate).dropout(); }
  /// The same for an expression, which numbers its masks when it is computed.
  DropoutMask dropout_mask(float rate) {
    require(rate >= 0 && rate < 1, "dropout: a rate of ", rate, " is not in [0, 1)");
    DropoutMask mask{nullptr};
    if (mode_.dropout && rate > 0) mask.pending = node(PendingDropout{{rate, mode_.key}, &masks_});
    return mask;
  }

  /// Runs gradient(tape, dy) in the backward pass once dy, the gradient of y, is complete. The closure may overwrite dy.
  void on_backward(Variable<Device> y, auto gradient) { on_backward(std::array{y}, std::move(gradient)); }

  /// The same for a function with several results: gradient(tape, dy1, dy2, ...). The gradient of an unused result is
  /// empty.
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
        if (slot->gradient.empty() && slot->of != nullptr && slot->of->whole) tape.place(*slot);  // slice of a used one
        if (slot->gradient.empty()) continue;                                                     // unused
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

  /// Marks the start of a layer. When the backward pass reaches it, the gradients of the layer's parameters are complete
  /// and can be sent to other processes while the pass continues.
  void begin_layer(const auto& layer) {
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

  /// The destination of a contribution to the gradient of x; empty if x wants none.
  Sink<Scalar> sink(Variable<Device> x) { return x.slot == nullptr ? Sink<Scalar>{} : sink(*x.slot); }
  Sink<Scalar> sink(GradientSlot<Device>& slot) {
    start_backward();
    const bool add = !slot.gradient.empty() || (slot.of && slot.of->whole);
    if (slot.gradient.empty()) place(slot);
    if (add) complete(slot);
    for (auto* slice = slot.slices; slice != nullptr; slice = slice->sibling)
      if (slice->gradient.empty()) place(*slice);  // because functions may have slices as results
    slot.whole = true;
    return {slot.gradient, add};
  }

  /// The same for a function that contributes to some elements only: the others become 0 if the sink sets.
  Sink<Scalar> zeroed_sink(Variable<Device> x) {
    const Sink<Scalar> to = sink(x);
    if (!to.add) device.zero(to.to);
    return to;
  }

  /// Temporary memory for a gradient computation; free it with release.
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
            "backward: this tape does not record. Create it with TapeMode::training(seed, step) or TapeMode::gradients().");
    require(started_, "backward: no gradient has been set on this tape. Call backward() of a loss.");
    require(!std::exchange(backward_, true),
            "backward: this tape's backward pass has already run. Compute the loss again on a new tape.");
    for (; last_ != nullptr; last_ = last_->previous) last_->run(last_, *this);
    device.gradients.end_pass(masks_ > 0 ? mode_.key : RandomKey{}, trained_);
  }
  bool ran_backward() const { return backward_; }
  /// Called by functions that start gradients; sink() calls it.
  void start_backward() { started_ = true; }

  GradientSlot<Device>* new_slot(Index rows, Index cols) {
    if (!mode_.record) return nullptr;
    auto* slot = new (device.tape_nodes.allocate(sizeof(GradientSlot<Device>))) GradientSlot<Device>;
    slot->rows = rows;
    slot->cols = cols;
    return slot;
  }

  [[no_unique_address]] TapeLife life;
  const std::uint64_t number = device.tapes_begun++;  // grows with every tape of the device

 private:
  struct Node {
    void (*run)(Node*, Tape&) = nullptr;
    Node* previous = nullptr;
  };

  static bool wants_gradient(const Variable<Device>& x) { return x.slot != nullptr; }
  static bool wants_gradient(const auto& vectors) requires requires { vectors.learns(); }
  { return vectors.learns(); }
  bool wants_gradient(const Parameter<Device>& parameter) {
    if (parameter.learns()) trained_ = parameter.gradient;
    return parameter.learns();
  }

  void place(GradientSlot<Device>& slot) {
    if (slot.of) {
      if (slot.of->gradient.empty()) place(*slot.of);
      slot.gradient = slot.of->gradient.columns(slot.first_column, slot.cols);
    } else {
      slot.gradient = scratch<Scalar>(slot.rows, slot.cols);
    }
  }

  /// Zeroes columns without contributions: those of unused slices, and those outside all slices.
  void complete(GradientSlot<Device>& slot) {
    if (slot.whole || slot.slices == nullptr) return;
    for (auto* slice = slot.slices; slice != nullptr; slice = slice->sibling)
      if (slice->gradient.empty()) {
        place(*slice);
        device.zero(slice->gradient);
      }
    for (Index first = 0; first < slot.cols;) {  // slices do not overlap, but are unordered
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
  bool backward_ = false, started_ = false;
  const void* trained_ = nullptr;  // the gradient of a parameter that learns
};

/// The newer of the two tapes: results of a decoding step live on the step's tape.
template <class Device>
Tape<Device>& innermost(const Variable<Device>& a, const Variable<Device>& b) {
  return a.tape().number > b.tape().number ? a.tape() : b.tape();
}

}  // namespace attn
