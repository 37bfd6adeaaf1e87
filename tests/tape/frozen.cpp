#include <doctest/doctest.h>

#include <memory>

#include "attn/cpu.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/columns.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/input_feeding.hpp"
#include "attn/tape/layer_norm.hpp"
#include "attn/tape/linear.hpp"
#include "attn/tape/ragged_product.hpp"
#include "support/tape.hpp"

using attn::Index;
using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;
using Inputs = std::vector<Variable>;
using Parameters = std::vector<attn::Parameter<Device>>;

namespace {

const std::vector<std::int32_t> kOffsets{0, 3, 3, 7, 8}, kSourceOffsets{0, 2, 3, 3, 6};

/// A function of activations and parameters, of which some learn and others do not.
struct Case {
  Device device{2};
  std::vector<std::unique_ptr<Tensor<Device>>> inputs;
  std::vector<std::unique_ptr<TestParameter<Device>>> parameters;

  Case(std::initializer_list<std::pair<Index, Index>> of_inputs,
       std::initializer_list<std::pair<Index, Index>> of_parameters) {
    std::uint64_t seed = 0;
    for (const auto& [rows, cols] : of_inputs)
      inputs.push_back(std::make_unique<Tensor<Device>>(device, rows, cols, random_numbers(rows * cols, ++seed)));
    for (const auto& [rows, cols] : of_parameters)
      parameters.push_back(std::make_unique<TestParameter<Device>>(device, rows, cols, ++seed));
  }
  unsigned count() const { return static_cast<unsigned>(inputs.size() + parameters.size()); }

  /// The gradients of those that learn, bits of `learning`, inputs first; nothing for the others.
  template <class Function>
  std::vector<Numbers> gradients(unsigned learning, const Function& function) {
    const auto learns = [&](std::size_t i) { return (learning >> i & 1) != 0; };
    Tape tape(device, TapeMode::training(1, 2));
    Inputs variables;
    for (const auto& in : inputs) {
      variables.push_back(tape.constant(*in));
      if (learns(variables.size() - 1)) variables.back().slot = tape.new_slot(in->rows(), in->cols());
    }
    Parameters weights;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i]->gradients.write(Numbers(static_cast<std::size_t>(parameters[i]->size()), 0));
      parameters[i]->frozen = !learns(inputs.size() + i);
      weights.push_back(*parameters[i]);
    }
    const Variable y = function(tape, variables, weights);
    CHECK((y.slot != nullptr) == (learning != 0));  // nothing that learns: no backward pass
    if (y.slot != nullptr) contribute(tape, y, random_numbers(y.rows() * y.cols(), 99)), tape.backward();
    std::vector<Numbers> found;
    for (std::size_t i = 0; i < count(); ++i) {
      if (i < inputs.size()) {
        found.push_back(learns(i) ? gradient(tape, variables[i]) : Numbers{});
        continue;
      }
      const Numbers numbers = parameters[i - inputs.size()]->gradients.read();
      if (!learns(i)) CHECK(numbers == Numbers(numbers.size(), 0));
      found.push_back(learns(i) ? numbers : Numbers{});
    }
    return found;
  }

  /// Whatever is frozen, the gradients of the others are the bits that they are if all learn.
  template <class Function>
  void check(const Function& function) {
    const auto expected = gradients((1u << count()) - 1, function);
    for (const Numbers& numbers : expected) CHECK(distance(numbers, Numbers(numbers.size(), 0)) > 0);
    for (unsigned learning = 0; learning < 1u << count(); ++learning) {
      CAPTURE(learning);
      const auto found = gradients(learning, function);
      for (std::size_t i = 0; i < count(); ++i)
        if (learning >> i & 1) CHECK(same_bits(found[i], expected[i]));
    }
  }
};

}  // namespace

TEST_CASE("frozen: linear with a frozen weight and a trainable bias and other combinations") {
  Case({{4, 5}}, {{7, 5}, {7, 1}}).check([](Tape&, const Inputs& x, const Parameters& p) {
    return attn::linear(x[0], p[0], p[1]);
  });
  Case({{4, 7}}, {{7, 5}}).check([](Tape&, const Inputs& x, const Parameters& p) {
    return attn::linear_transposed(x[0], p[0]);
  });
  Case({{6, 5}}, {{9, 5}, {9, 1}, {5, 9}, {5, 1}}).check([](Tape&, const Inputs& x, const Parameters& p) {
    return attn::feed_forward(x[0], p[0], p[1], p[2], p[3], 0.3f);
  });
}

TEST_CASE("frozen: layer_norm and rms_norm with and without a residual") {
  Case({{4, 5}}, {{5, 1}, {5, 1}}).check([](Tape&, const Inputs& x, const Parameters& p) {
    return attn::layer_norm(x[0], p[0], p[1]);
  });
  Case({{4, 5}, {4, 5}}, {{5, 1}, {5, 1}}).check([](Tape& tape, const Inputs& x, const Parameters& p) {
    return attn::residual_layer_norm(x[0], x[1], p[0], p[1], tape.dropout(0.3f));
  });
  Case({{4, 5}}, {{5, 1}}).check([](Tape&, const Inputs& x, const Parameters& p) { return attn::rms_norm(x[0], p[0]); });
}

TEST_CASE("frozen: embedding of tokens and learned positions") {
  Case({}, {{7, 4}, {5, 4}}).check([](Tape& tape, const Inputs&, const Parameters& p) {
    attn::PositionVectors<Device> positions{p[1].matrix()};
    if (p[1].learns()) positions.gradients = p[1].gradient_matrix();
    const attn::Text text = upload(tape, attn::Sentences{{1, 3, 3}, {}, {6, 1}});
    return attn::embedding(tape, text, p[0], 2, positions, 1, 0.3f);
  });
}

TEST_CASE("frozen: attention with frozen projections such as that of the keys") {
  Case({{8, 4}, {6, 4}}, {{4, 4}, {4, 4}, {4, 4}}).check([](Tape& tape, const Inputs& x, const Parameters& p) {
    const attn::Ragged queries = attn::upload_offsets(tape, kOffsets.data(), 4),
                       keys = attn::upload_offsets(tape, kSourceOffsets.data(), 4);
    const attn::KeysValues<Device> memory{attn::linear(x[1], p[1]), attn::linear(x[1], p[2]), keys};
    return attn::attention(attn::linear(x[0], p[0]), queries, memory, {.heads = 2, .scale = 0.7, .dropout = 0.3f});
  });
  Case({{8, 4}, {6, 4}, {6, 3}}, {{4, 1}}).check([](Tape& tape, const Inputs& x, const Parameters& p) {
    const attn::Ragged queries = attn::upload_offsets(tape, kOffsets.data(), 4),
                       keys = attn::upload_offsets(tape, kSourceOffsets.data(), 4);
    return attn::additive_attention(x[0], queries, {x[1], x[2], keys}, p[0], false);
  });
  Case({{8, 4}}, {{4, 5}}).check([](Tape& tape, const Inputs& x, const Parameters& p) {
    return attn::ragged_projection(x[0], attn::upload_offsets(tape, kOffsets.data(), 4), p[0], 2);
  });
}

TEST_CASE("frozen: lstm with and without trainable initial states") {
  constexpr int kWidth = 3;
  Case({{8, 2}, {4, kWidth}, {4, kWidth}}, {{4 * kWidth, 2}, {4 * kWidth, kWidth}, {4 * kWidth, 1}})
      .check([](Tape& tape, const Inputs& x, const Parameters& p) {
        const attn::LstmWeights<Device> weights{p[0], p[1], p[2]};
        const auto layout = attn::time_major(tape, attn::upload_offsets(tape, kOffsets.data(), 4), kOffsets.data());
        const auto y = attn::make_lstm_result(tape, layout, attn::Size<kWidth>(), x[0], x[1], x[2], weights);
        attn::lstm(x[0], layout,
                   std::array{attn::LstmDirection<Device>{weights, {x[1], x[2]}, {y.h, {y.last.h, y.last.c}}}});
        return y.h;
      });
}

TEST_CASE("frozen: input_feeding") {
  constexpr int kWords = 3, kWidth = 4, kValue = 5;
  Case({{8, kWords}, {6, kWidth}, {6, kValue}},
       {{4 * kWidth, kWords + kWidth}, {4 * kWidth, kWidth}, {4 * kWidth, 1}, {kWidth, kWidth + kValue}})
      .check([](Tape& tape, const Inputs& x, const Parameters& p) {
        const attn::InputFeedingWeights<Device> weights{{attn::LstmWeights<Device>{p[0], p[1], p[2]}}, p[3], 0, 0.2f};
        const auto layout = attn::time_major(tape, attn::upload_offsets(tape, kOffsets.data(), 4), kOffsets.data());
        const attn::Ragged source = attn::upload_offsets(tape, kSourceOffsets.data(), 4);
        const auto y = attn::input_feeding(x[0], layout, {x[1], x[2], source}, 0.7, weights);
        return attn::concat(y.fed, y.context);
      });
}

TEST_CASE("frozen: cross-entropy of an output layer") {
  Device device(2);
  const std::vector<attn::Token> labels{2, 6, 0, 2};
  TestParameter<Device> weight(device, 7, 5, 2), bias(device, 7, 1, 3);
  const Tensor<Device> x(device, 4, 5, random_numbers(20, 1));
  const auto run = [&](bool weight_learns, bool bias_learns, bool input_learns) {
    weight.frozen = !weight_learns, bias.frozen = !bias_learns;
    weight.gradients.write(Numbers(35, 0)), bias.gradients.write(Numbers(7, 0));
    Tape tape(device, TapeMode::gradients());
    Variable in = tape.constant(x);
    if (input_learns) in.slot = tape.new_slot(4, 5);
    auto loss = attn::cross_entropy(in, weight, bias, labels.data(), {.amount = 0.1});
    loss.backward();
    return std::vector{weight.gradients.read(), bias.gradients.read(), input_learns ? gradient(tape, in) : Numbers(20, 0)};
  };
  const auto expected = run(true, true, true);
  for (int learning = 1; learning < 8; ++learning) {
    CAPTURE(learning);
    const auto found = run((learning & 1) != 0, (learning & 2) != 0, (learning & 4) != 0);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(same_bits(found[i], (learning >> i & 1) != 0 ? expected[i] : Numbers(expected[i].size(), 0)));
  }
}
