#pragma once
#include "attn/tape/columns.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/ragged_product.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/reshape.hpp"
#include "attn/tape/rotary.hpp"
#include "cuda/guarded.hpp"

// Arithmetic on activations, forward and backward on a tape. All: kind, rows, width.

enum class TapeKind { broadcasts, dropout_and_slices, norm_by_hand, attention_by_hand, loss, learned_scalar, loss_per_row };

inline constexpr int kTapeKinds = 7;

/// Two activations, a column and a learned vector on a tape, and the results of a function of them.
template <class Device>
class TapeOperands {
 public:
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  using Variable = attn::Variable<Device>;

  TapeOperands(Device& device, const OpCase& test, Precision precision)
      : tape(device, attn::TapeMode::training(1, 2)),
        precision_(precision),
        rows_(test.size("rows")),
        width_(test.size("width")),
        vector_(device, width_, 1, operand(width_, 4, precision)),
        vector_gradient_(device, width_, 1, operand(width_, 5, precision)),
        x(input(width_, 1)),
        z(input(width_, 2)),
        column(input(1, 3)) {
    vector.rows = width_;
    vector.cols = 1;
    vector.value = vector_.data();
    vector.gradient = vector_gradient_.data();
  }

  /// The value of y and the gradients of what it is computed from. The roundings of intermediate activations add up to
  /// `floor`, relative to the result.
  Results results(const Variable& y, double floor) {
    const Numbers dy = operand(y.rows() * y.cols(), 6, precision_);
    const auto sink = tape.sink(y);
    write(sink.to, dy);
    Results all{{.name = "y", .numbers = read(y.value), .floor = floor}};
    tape.backward();
    add_gradients(all, floor);
    return all;
  }
  Results results(attn::Loss<Device> loss, double floor) {
    loss.backward();
    Results all{{.name = "loss", .numbers = {loss.value()}, .in_float = true, .floor = floor}};
    add_gradients(all, floor);
    return all;
  }

 private:
  static void upload_numbers(Device& device, Scalar* to, const Numbers& numbers) {
    std::vector<Scalar> host;
    for (const double number : numbers)
      host.push_back(static_cast<Scalar>(static_cast<std::conditional_t<sizeof(Scalar) == 8, double, float>>(number)));
    device.upload(to, host.data(), static_cast<attn::Index>(host.size()));
  }
  void write(attn::Matrix<Scalar> to, const Numbers& numbers) { upload_numbers(tape.device, to.data, numbers); }

  Variable input(attn::Index cols, std::uint64_t stream) {
    const Variable in = tape.make(rows_, cols);
    write(in.value, operand(rows_ * cols, stream, precision_, 2));
    return in;
  }
  Numbers read(attn::Matrix<Scalar> matrix) {
    std::vector<Scalar> host(static_cast<std::size_t>(matrix.rows * matrix.cols));
    for (attn::Index i = 0; i < matrix.rows; ++i)
      tape.device.download(host.data() + i * matrix.cols, matrix.row(i), matrix.cols);
    Numbers numbers;
    for (const Scalar number : host)
      numbers.push_back(static_cast<std::conditional_t<sizeof(Scalar) == 8, double, float>>(number));
    return numbers;
  }
  void add_gradients(Results& all, double floor) {
    const auto add = [&](const char* name, const Variable& in) {
      if (!in.slot->gradient.empty()) all.push_back({.name = name, .numbers = read(tape.sink(in).to), .floor = floor});
    };
    add("dx", x);
    add("dz", z);
    add("dcolumn", column);
    all.push_back({.name = "dvector", .numbers = vector_gradient_.read("dvector"), .in_float = true, .floor = floor});
  }

 public:
  attn::Tape<Device> tape;

 private:
  Precision precision_;
  attn::Index rows_, width_;
  Activations<Device> vector_;
  Reals<Device> vector_gradient_;

 public:
  Variable x, z;
  attn::Variable<Device, 1> column;
  attn::Parameter<Device> vector;
};

template <class Device>
Results tape_case(Device& device, const OpCase& test, Precision precision) {
  using Variable = attn::Variable<Device>;
  TapeOperands<Device> of(device, test, precision);
  const Variable x = of.x, z = of.z;
  const attn::Variable<Device, 1> column = of.column;
  const attn::Parameter<Device> vector = of.vector;
  // One expression rounds once. In float, its functions and sums are good to a few units. In bfloat16, intermediate
  // activations are rounded too, scores among them, whose errors grow in the exponent.
  const bool in_float = precision == Precision::float32;
  const double once = in_float ? 0x1p-20 : 0x1p-8, often = (in_float ? 4 : 8) * once;
  switch (static_cast<TapeKind>(test.size("kind"))) {
    case TapeKind::broadcasts: {
      const Variable y = x + sigmoid(vector) * z * column - vector * column / (1 + square(x));
      return of.results(y, once);
    }
    case TapeKind::dropout_and_slices: {
      const attn::Variable<Device, 1> first = slice(x, 0, 1);
      const Variable y = dropout(tanh(x) * column, 0.25f) + where(z > vector, silu(z), 0.1 * x) * first;
      return of.results(y, 4 * once);  // the gradient of x is that of two operands
    }
    case TapeKind::norm_by_hand: {
      const Variable centred = x - mean_columns(x);
      const Variable y = centred / sqrt(mean_columns(square(centred)) + 1e-5) * vector + z;
      return of.results(y, often);
    }
    case TapeKind::attention_by_hand: {
      const std::int32_t half = static_cast<std::int32_t>(x.rows() / 2);
      const std::vector<std::int32_t> offsets{0, half, half, static_cast<std::int32_t>(x.rows())};
      const attn::Ragged rows = attn::upload_offsets(of.tape, offsets.data(), 3);
      const double scale = 1 / std::sqrt(static_cast<double>(x.cols()));
      const int heads = x.cols() % 4 == 0 ? 2 : 1;
      const Variable q = x.cols() % 2 == 0 ? rotary(x, rows, heads) : x;
      const Variable weights = softmax(ragged_scores(q, rows, z * vector, rows, scale), rows, rows, true);
      const Variable y = ragged_mix(weights, rows, z, rows) + column;
      return of.results(repeat_heads(reshape(y, y.rows(), y.cols()), 1, 2), often);
    }
    case TapeKind::loss: {
      const auto loss = mse(x * vector, z) + 0.1 * mean(square(x)) + 0.5 * binary_cross_entropy(z, sigmoid(column)) +
                        kl_divergence(x, softmax(z));
      return of.results(static_cast<double>(x.rows() * x.cols()) * loss,
                        often);  // so that gradients are about as large as 1
    }
    case TapeKind::learned_scalar: {
      attn::Parameter<Device> scalar = vector;  // its first number
      scalar.rows = 1;
      const Variable y = x + sigmoid(scalar) * z - scalar * scalar * column;
      return of.results(y, 4 * once);  // the gradient of the scalar is a sum of all elements
    }
    case TapeKind::loss_per_row: {
      std::vector<attn::Token> labels;
      for (const std::int32_t label : whole_numbers(x.rows(), 7, x.cols())) labels.push_back(label);
      const attn::Variable<Device, 1> losses = cross_entropy_per_row(x, upload(of.tape, labels), 0.1);
      return of.results(sum(sigmoid(column) * losses) + 0.1 * sum(square(x * vector)), often);
    }
  }
  attn::fail("no case of the tape has the number ", test.size("kind"));
}
