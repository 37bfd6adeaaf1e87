#pragma once
#include <mutex>

#include "attn/core/memory.hpp"
#include "attn/core/size.hpp"

namespace attn {

// A checked build (-DATTN_CHECKED) tracks live tapes: use of an activation or a loss after its tape throws an Error. Other
// builds store a plain pointer.

#ifdef ATTN_CHECKED
/// Registers a tape while it lives.
class TapeLife {
 public:
  TapeLife() {
    const std::lock_guard lock(mutex_);
    live_.push_back(number = ++last_);
  }
  TapeLife(const TapeLife&) = delete;
  ~TapeLife() {
    const std::lock_guard lock(mutex_);
    std::erase(live_, number);
  }
  static bool lives(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(live_, number) != live_.end();
  }

  std::uint64_t number;

 private:
  inline static std::mutex mutex_;
  inline static std::vector<std::uint64_t> live_;  // the numbers of the live tapes
  inline static std::uint64_t last_ = 0;
};
#else
struct TapeLife {};
#endif

/// A pointer from an activation or a loss to its tape.
template <class Tape>
class TapePointer {
 public:
  TapePointer() = default;
  TapePointer(Tape* tape) : tape_(tape) {
#ifdef ATTN_CHECKED
    if (tape != nullptr) number_ = tape->life.number;
#endif
  }
  bool operator==(std::nullptr_t) const { return tape_ == nullptr; }
  Tape& operator*() const { return *tape_; }
  void check() const {
#ifdef ATTN_CHECKED
    require(
        TapeLife::lives(number_),
        "an activation or a loss is used after its tape has ended. Keep the Tape alive, or compute it again on a new one.");
#endif
  }

 private:
  Tape* tape_ = nullptr;
#ifdef ATTN_CHECKED
  std::uint64_t number_ = 0;
#endif
};

template <class Device>
class Tape;

/// The gradient of an activation during the backward pass.
template <class Device>
struct GradientSlot {
  Matrix<typename Device::Scalar> gradient{};  // empty until the first contribution
  Index rows = 0, cols = 0;
  bool whole = false;               // a contribution covered all columns, not only slices
  GradientSlot* of = nullptr;       // the activation this one is a slice of
  Index first_column = 0;           // of the slice
  GradientSlot* slices = nullptr;   // slices of this activation
  GradientSlot* sibling = nullptr;  // the next slice of the same activation
};

template <class Device, int Width = dynamic>
struct Variable;

/// Specialised for types that convert to a Variable on assignment (tape/expression.hpp).
template <class T>
inline constexpr bool is_expression = false;

/// An activation: a matrix with one row per token of a batch. Knows its tape, so functions on it need no other argument.
template <class Device>
struct Variable<Device, dynamic> {
  static constexpr int width = dynamic;
  using DeviceType = Device;

  MatrixOn<Device, typename Device::Scalar> value;  // rows x cols
  GradientSlot<Device>* slot = nullptr;             // null: no gradient wanted, or the tape does not record
  const char* layer = nullptr;                      // the kind of layer that computed it, for error messages

  Variable() = default;
  explicit Variable(Matrix<typename Device::Scalar> matrix, Tape<Device>* on = nullptr,
                    GradientSlot<Device>* gradient = nullptr)
      : value(matrix), slot(gradient), tape_(on) {}
  template <class E>
  requires is_expression<E> Variable(const E& expression) : Variable(expression.evaluate()) {}

  Index rows() const { return value.rows; }
  Index cols() const { return value.cols; }

  /// Its tape. Throws an Error without one, and in a checked build also if the tape no longer exists.
  Tape<Device>& tape() const {
    if (tape_ == nullptr) [[unlikely]]
      fail("this activation is on no tape: it is empty, or was made from a matrix. Compute it from a batch.");
    tape_.check();
    return *tape_;
  }

 private:
  TapePointer<Tape<Device>> tape_;
};

/// An activation of static width. Mismatched static widths are compile errors; a dynamic width is checked when it is
/// converted to a static one.
template <class Device, int Width>
struct Variable : Variable<Device> {
  static constexpr int width = Width;

  Variable() = default;
  explicit Variable(Matrix<typename Device::Scalar> matrix, Tape<Device>* on = nullptr,
                    GradientSlot<Device>* gradient = nullptr)
      : Variable(Variable<Device>(matrix, on, gradient)) {}
  Variable(Variable<Device> x) : Variable<Device>(x) {
    if (x.cols() != Width && !x.value.empty()) [[unlikely]]
      fail("an activation of ", x.cols(), " columns", x.layer != nullptr ? ", the output of " : "",
           x.layer != nullptr ? x.layer : "", ", but the type says ", Width);
  }
  template <int Other>
  requires(Other != Width && Other != dynamic) Variable(Variable<Device, Other>) {
    static_assert(Other == Width, "attn: widths differ: an activation of width Other, but width Width is needed");
  }
  template <class E>
  requires is_expression<E> Variable(const E& expression) : Variable(expression.evaluate()) {
    static_assert(E::width == dynamic || E::width == 1 || E::width == Width,  // a column times a vector is wider than 1
                  "attn: widths differ: an expression of width E::width, but width Width is needed");
  }
};

}  // namespace attn
