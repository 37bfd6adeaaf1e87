#pragma once
#include "attn/nn/layer_input.hpp"
#include "attn/ops/decoding.hpp"
#include "attn/ops/move_rows.hpp"
#include "attn/tape/cross_entropy.hpp"

namespace attn {

/// Maps hidden states to a distribution over the vocabulary: softmax(x Wᵀ + b).
template <class Device, int Width = dynamic>
struct Output {
  using X = Variable<Device, Width>;

  Parameter<Device> weight;
  Parameter<Device> bias;  // optional

  /// Weights start as large as an embedding's, so logits vary from the beginning. For a vocabulary of thousands, Glorot
  /// weights are several times smaller: recurrent models then learn half as fast, and a plain LSTM with a high learning rate
  /// does not learn.
  explicit Output(Index vocabulary, bool has_bias = true) requires(Width != dynamic)
      : Output(vocabulary, Width, has_bias) {}
  Output(Index vocabulary, Size<Width> width, bool has_bias = true)
      : weight{vocabulary_size(vocabulary), width, Initializer::normal(1 / std::sqrt(static_cast<double>(int(width))))} {
    if (has_bias) bias = {vocabulary, 1};
  }

  /// Unnormalised log-probabilities of the next token: rows x vocabulary.
  Variable<Device> logits(X x) const {
    check_input("Output", weight.cols, x);
    return output_of<Device, dynamic>("Output", linear(x, weight, bias));
  }

  /// The cross-entropy of softmax(logits(x)) against the labels, without storing all logits.
  Loss<Device> loss(X x, const Text& labels, LossOptions options = {}) const {
    check_input("Output", weight.cols, x);
    check_labels(labels, x.rows(), weight.rows);
    return cross_entropy(x, weight, bias, labels.tokens, options);
  }

  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    if (bias.size() > 0) visit("bias", bias);
  }
};

/// The tokens that a decoder may choose: all, or a list, whose rows of the output layer are gathered once. Column i of the
/// logits is that of token token(i).
template <class Device>
class OutputRows {
  using Scalar = typename Device::Scalar;

 public:
  OutputRows() = default;
  OutputRows(const OutputRows&) = delete;
  ~OutputRows() {
    if constexpr (kCaches)
      if (device_ != nullptr) device_->weights().forget(weight_.data, weight_.rows * weight_.cols);
  }

  /// Restricts the choice to these tokens, ascending and distinct. Call once, with a tape that outlives their use.
  void gather(Tape<Device>& tape, const auto& output, std::span<const Token> tokens) {
    require(!tokens.empty() && tokens_.empty(), "allowed_tokens must not be empty, and can be set only once");
    require(std::ranges::adjacent_find(tokens, std::greater_equal<>{}) == tokens.end() && tokens.front() >= 0 &&
                tokens.back() < output.weight.rows,
            "allowed_tokens must be rising ids from 0 to ", output.weight.rows - 1);
    tokens_.assign(tokens.begin(), tokens.end());
    const auto count = static_cast<Index>(tokens.size());
    const Token* rows = tape.upload(tokens_.data(), count);
    const auto take = [&](const Parameter<Device>& from) {
      const Matrix<Scalar> to = tape.matrix(count, from.cols);
      move_rows(tape.device, {.from = from.matrix(), .from_row = rows, .to = {to}, .count = count});
      return to;
    };
    weight_ = take(output.weight);
    if (output.bias.size() > 0) bias_ = take(output.bias).data;
    if constexpr (kCaches) {  // as the weights of the output layer may be
      device_ = &tape.device;
      device_->weights().cache(weight_.data, weight_.rows * weight_.cols);
    }
  }

  /// Unnormalised log-probabilities of the allowed tokens, one column each.
  template <int Width>
  Matrix<Scalar> logits(const Output<Device, Width>& output, Variable<Device> x) const {
    if (tokens_.empty()) return output.logits(x).value;
    Tape<Device>& tape = x.tape();
    const Matrix<Scalar> y = tape.matrix(x.rows(), weight_.rows);
    linear(tape.device, {.x = x.value, .weight = weight_, .bias = bias_, .y = y});
    return y;
  }

  /// The column of the most probable token of each row, `except` excluded; on the device.
  Token* likeliest(const auto& output, Variable<Device> x, Token except) const {
    Tape<Device>& tape = x.tape();
    const Matrix<const Scalar> weight = all() ? Matrix<const Scalar>(output.weight.matrix()) : weight_;
    Token* best = tape.template array<Token>(x.rows());
    linear_argmax(tape.device, {.x = x.value,
                                .weight = weight,
                                .bias = all() ? output.bias.values() : bias_,
                                .logits = tape.matrix(x.rows(), weight.rows),
                                .best = best,
                                .except = except});
    return best;
  }

  bool all() const { return tokens_.empty(); }
  Index count() const { return std::ssize(tokens_); }
  /// The token of a column; -1 (no token) stays -1.
  Token token(Token column) const { return all() || column < 0 ? column : tokens_[static_cast<std::size_t>(column)]; }
  /// The column of a token, or -1 if it is not allowed.
  Token column(Token token) const {
    if (all() || token < 0) return token;
    const auto at = std::ranges::lower_bound(tokens_, token);
    return at != tokens_.end() && *at == token ? static_cast<Token>(at - tokens_.begin()) : -1;
  }

 private:
  static constexpr bool kCaches = requires(Device & device, const Scalar* values) {
    device.weights().cache(values, Index{});
  };

  std::vector<Token> tokens_;
  Matrix<const Scalar> weight_;
  const Scalar* bias_ = nullptr;
  Device* device_ = nullptr;
};

}  // namespace attn
