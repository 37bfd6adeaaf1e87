#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "attn/nn/output.hpp"
#include "attn/ops/gather_rows.hpp"
#include "attn/ops/linear_argmax.hpp"

namespace attn {

/// The words that a decoder chooses among: all, or those of a list, whose rows of the output layer are gathered once. Column i
/// of its logits is that of word(i).
template <class Device>
class OutputRows {
  using Scalar = typename Device::Scalar;

 public:
  OutputRows() = default;
  OutputRows(const OutputRows&) = delete;
  ~OutputRows() {
    if constexpr (kHeld)
      if (device_ != nullptr) device_->weights().forget(weight_.data, weight_.rows * weight_.cols);
  }

  /// From now on only these words, rising, each once; in memory of a tape that outlives their use.
  template <int Width>
  void gather(Tape<Device>& tape, const Output<Device, Width>& output, std::span<const Token> words) {
    require(!words.empty() && words_.empty(), "a list of words is given once, and holds one at least");
    require(std::ranges::adjacent_find(words, std::greater_equal<>{}) == words.end() && words.front() >= 0 &&
                words.back() < output.weight.rows,
            "a list of words to choose among is not one of rising ids below ", output.weight.rows);
    words_.assign(words.begin(), words.end());
    const auto count = static_cast<Index>(words.size());
    const Token* rows = tape.upload(words_.data(), count);
    const auto take = [&](const Parameter<Device>& from) {
      const Matrix<Scalar> to(tape.template array<Scalar>(count * from.cols), count, from.cols);
      gather_rows(tape.device, {.from = from.matrix(), .row = rows, .to = to});
      return to;
    };
    weight_ = take(output.weight);
    if (output.bias.size() > 0) bias_ = take(output.bias).data;
    if constexpr (kHeld) {  // as those they were taken from may be
      device_ = &tape.device;
      device_->weights().hold(weight_.data, weight_.rows * weight_.cols);
    }
  }

  /// Unnormalised log-probabilities of the words after every row.
  template <int Width>
  Matrix<Scalar> logits(const Output<Device, Width>& output, Variable<Device> x) const {
    if (words_.empty()) return output.logits(x).value;
    Tape<Device>& tape = x.tape();
    const Matrix<Scalar> y(tape.template array<Scalar>(x.rows() * weight_.rows), x.rows(), weight_.rows);
    linear(tape.device, {.x = x.value, .weight = weight_, .bias = bias_, .y = y});
    return y;
  }

  /// The column of the likeliest word after every row, `except` left out; on the device.
  template <int Width>
  Token* likeliest(const Output<Device, Width>& output, Variable<Device> x, Token except) const {
    Tape<Device>& tape = x.tape();
    const Matrix<const Scalar> weight = all() ? Matrix<const Scalar>(output.weight.matrix()) : weight_;
    const Matrix<Scalar> logits(tape.template array<Scalar>(x.rows() * weight.rows), x.rows(), weight.rows);
    Token* best = tape.template array<Token>(x.rows());
    linear_argmax(tape.device, {.x = x.value,
                                .weight = weight,
                                .bias = all() ? output.bias.values() : bias_,
                                .logits = logits,
                                .best = best,
                                .except = except});
    return best;
  }

  bool all() const { return words_.empty(); }
  /// The word of a column; -1, which stands for none, stays.
  Token word(Token column) const { return all() || column < 0 ? column : words_[static_cast<std::size_t>(column)]; }
  /// The column of a word, or -1 where it is none of them.
  Token column(Token word) const {
    if (all() || word < 0) return word;
    const auto at = std::ranges::lower_bound(words_, word);
    return at != words_.end() && *at == word ? static_cast<Token>(at - words_.begin()) : -1;
  }

 private:
  static constexpr bool kHeld = requires(Device & device, const Scalar* values) { device.weights().hold(values, Index{}); };

  std::vector<Token> words_;
  Matrix<const Scalar> weight_;
  const Scalar* bias_ = nullptr;
  Device* device_ = nullptr;
};

}  // namespace attn
