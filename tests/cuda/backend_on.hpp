#pragma once
#include "attn/models/transformer.hpp"
#include "cuda/adam_case.hpp"
#include "cuda/additive_attention_case.hpp"
#include "cuda/attention_case.hpp"
#include "cuda/beam_step_case.hpp"
#include "cuda/expression_case.hpp"
#include "cuda/head_cases.hpp"
#include "cuda/input_feeding_case.hpp"
#include "cuda/linear_case.hpp"
#include "cuda/loss_cases.hpp"
#include "cuda/lstm_case.hpp"
#include "cuda/reduction_cases.hpp"
#include "cuda/row_cases.hpp"
#include "cuda/tape_case.hpp"
#include "cuda/token_cases.hpp"
#include "cuda/training_on.hpp"

inline constexpr attn::TransformerShape kSmall{
    .encoder_layers = 2, .decoder_layers = 2, .width = 32, .heads = 2, .inner = 64};
inline constexpr attn::TransformerShape kWide{
    .encoder_layers = 1, .decoder_layers = 1, .width = 128, .heads = 2, .inner = 256};

/// Those of the recurrent kinds, which are compiled on their own.
template <class Device>
std::unique_ptr<Training> recurrent_training(Device& device, Kind kind, std::uint64_t seed);

template <class Device>
class BackendOn : public Backend {
 public:
  template <class... Options>
  explicit BackendOn(const Options&... options) : device_(options...) {}

  std::string description() const override { return device_.description(); }

  Results run(const OpCase& test, Precision precision) override {
    const std::string& op = test.op;
    if (op == "attention") return attention_case(device_, test, precision);
    if (op == "attention_weights") return attention_weights_case(device_, test, precision);
    if (op == "additive_attention") return additive_attention_case(device_, test, precision);
    if (op == "linear") return linear_case(device_, test, precision);
    if (op == "ragged_projection") return ragged_projection_case(device_, test, precision);
    if (op == "layer_norm") return layer_norm_case(device_, test, precision);
    if (op == "residual") return residual_case(device_, test, precision);
    if (op == "dropout") return dropout_case(device_, test, precision);
    if (op == "lstm") return lstm_case(device_, test, precision);
    if (op == "input_feeding") return input_feeding_case(device_, test, precision);
    if (op == "gather_rows") return gather_rows_case(device_, test, precision);
    if (op == "activation") return activation_case(device_, test, precision);
    if (op == "tanh") return tanh_case(device_, test, precision);
    if (op == "expression") return expression_case(device_, test, precision);
    if (op == "scatter_rows") return scatter_rows_case(device_, test, precision);
    if (op == "copy_rows") return copy_rows_case(device_, test, precision);
    if (op == "greedy_step") return greedy_step_case(device_, test, precision);
    if (op == "beam_step") return beam_step_case(device_, test, precision);
    if (op == "embedding") return embedding_case(device_, test, precision);
    if (op == "sinusoid") return sinusoid_case(device_, test, precision);
    if (op == "cross_entropy") return cross_entropy_case(device_, test, precision);
    if (op == "argmax") return argmax_case(device_, test, precision);
    if (op == "top_k") return top_k_case(device_, test, precision);
    if (op == "adam") return adam_case(device_, test, precision);
    if (op == "softmax") return softmax_case(device_, test, precision);
    if (op == "reduce_columns") return reduce_columns_case(device_, test, precision);
    if (op == "reduce_rows") return reduce_rows_case(device_, test, precision);
    if (op == "repeat_rows") return repeat_rows_case(device_, test, precision);
    if (op == "reduce_all") return reduce_all_case(device_, test, precision);
    if (op == "ragged_product") return ragged_product_case(device_, test, precision);
    if (op == "cross_entropy_gradient") return cross_entropy_gradient_case(device_, test, precision);
    if (op == "kl_divergence") return kl_divergence_case(device_, test, precision);
    if (op == "rotary") return rotary_case(device_, test, precision);
    if (op == "repeat_heads") return repeat_heads_case(device_, test, precision);
    if (op == "tape") return tape_case(device_, test, precision);
    attn::fail("no op is called ", op);
  }

  std::unique_ptr<Training> training(Kind kind, std::uint64_t seed) override {
    using attn::Transformer;
    switch (kind) {
      case Kind::transformer:
        return make<Transformer<Device, kSmall>>(seed);
      case Kind::linformer:
        return make<Transformer<Device, kSmall, attn::Linformer<8, kLongest>>>(seed);
      case Kind::wide_heads:
        return make<Transformer<Device, kWide, attn::Full<>, attn::PreNorm>>(seed);
      default:
        return recurrent_training(device_, kind, seed);
    }
  }

  std::size_t held() const override {
    if constexpr (requires { device_.reserved(); })
      return device_.reserved();
    else
      return device_.activations.capacity() + device_.gradients.capacity();
  }
  std::string out_of_memory() override {
    try {
      attn::Tape<Device> tape(device_);
      tape.template array<std::byte>(attn::Index{1} << 45);
    } catch (const attn::Error& error) {
      return error.what();
    }
    return "";
  }

 private:
  template <class Model>
  std::unique_ptr<Training> make(std::uint64_t seed) {
    return std::make_unique<TrainingOn<Device, Model>>(device_, seed);
  }

  Device device_;
};
