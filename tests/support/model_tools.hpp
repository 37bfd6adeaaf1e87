#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

#include "attn/core/parameters.hpp"
#include "attn/core/sentences.hpp"
#include "attn/transformer.hpp"

// Helpers for tests of layers and models: small texts, inputs with gradients, numeric gradient checks.

namespace attn_test {

using namespace attn;

inline Sentences sentences(std::initializer_list<std::vector<Token>> list) {
  Sentences all;
  for (const auto& sentence : list) all.push_back(sentence);
  return all;
}

/// Sentences of these lengths, without the begin (2) and end (3) tokens.
inline Sentences random_sentences(const std::vector<Index>& lengths, Index vocabulary, std::uint64_t seed) {
  Random random(seed);
  Sentences all;
  for (const Index length : lengths) {
    std::vector<Token> sentence;
    for (Index i = 0; i < length; ++i) sentence.push_back(static_cast<Token>(4 + random.below(vocabulary - 4)));
    all.push_back(sentence);
  }
  return all;
}

inline constexpr SpecialTokens special_tokens{.begin = 2, .end = 3};  // none around the source

/// A matrix that is the input of a layer under test. It is a parameter, so that its gradient is checked too.
template <class Device, int Width>
struct Input {
  Parameter<Device> numbers;

  explicit Input(Index rows) : numbers{rows, Width, Initializer::normal(1)} {}

  Variable<Device, Width> operator()(Tape<Device>& tape) const {
    const auto x = tape.make(numbers.rows, Width);
    std::copy_n(numbers.value, numbers.size(), x.value.data);
    tape.on_backward(x, [gradient = numbers.gradient](Tape<Device>&, auto dx) {
      for (Index i = 0; i < dx.rows; ++i)
        for (Index j = 0; j < dx.cols; ++j) gradient[i * dx.cols + j] += dx(i, j);
    });
    return x;
  }

  void for_each_parameter(auto&& visit) { visit("numbers", numbers); }
};

/// Combines layers and inputs to one model.
template <class... Parts>
struct Together {
  std::tuple<Parts&...> parts;

  explicit Together(Parts&... all) : parts(all...) {}

  void for_each_parameter(auto&& visit) {
    std::apply(
        [&](auto&... part) {
          int i = 0;
          (visit(std::to_string(i++), part), ...);
        },
        parts);
  }
};

/// Adds noise to every parameter, so that no bias is 0 and no gain is 1.
template <class Device>
void shake(Parameters<Device>& parameters, double by = 0.3, std::uint64_t seed = 99) {
  Random random(seed);
  for (const auto& entry : parameters.entries()) {
    auto numbers = parameters.read(entry);
    for (auto& number : numbers) number += static_cast<typename Device::Real>(by * random.normal());
    parameters.write(entry, numbers);
  }
}

/// A scalar function of an activation, to take gradients of: the sum of y[i, j] * cos(3i + j + 1). If the tape records, it
/// also sets the gradient of y.
template <class Device>
double mixture(Tape<Device>& tape, Variable<Device> y) {
  using Scalar = typename Device::Scalar;
  const auto factor = [](Index i, Index j) { return std::cos(static_cast<double>(3 * i + j + 1)); };
  double sum = 0;
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j) sum += static_cast<double>(y.value(i, j)) * factor(i, j);
  if (tape.recording()) {
    const Sink<Scalar> dy = tape.sink(y);
    for (Index i = 0; i < y.rows(); ++i)
      for (Index j = 0; j < y.cols(); ++j) dy.put(dy.to(i, j), static_cast<Scalar>(factor(i, j)));
  }
  return sum;
}

/// Compares every parameter's gradient of loss(tape) with difference quotients, for at most `samples` entries of each
/// parameter. loss returns a Loss, or a number after setting gradients, as mixture does. Computes the gradient twice,
/// because parameter gradients accumulate.
template <class Device, class Loss>
void check_gradients(Parameters<Device>& parameters, const Loss& loss, TapeMode mode = TapeMode::gradients(),
                     Index samples = 40) {
  constexpr double kStep = 1e-6, kAbsolute = 1e-5, kRelative = 1e-3;
  constexpr bool returns_loss = requires(Tape<Device> & tape) { loss(tape).backward(); };
  Device& device = parameters.device();
  device.zero(parameters.gradients(), parameters.size());
  mode.record = true;
  for (int i = 0; i < 2; ++i) {
    Tape<Device> tape(device, mode);
    if constexpr (returns_loss)
      loss(tape).backward();
    else
      loss(tape), tape.backward();
  }
  mode.record = false;
  const auto value = [&] {
    Tape<Device> tape(device, mode);
    if constexpr (returns_loss)
      return loss(tape).value();
    else
      return loss(tape);
  };
  Random random(7);
  double largest = 0;
  for (const auto& entry : parameters.entries()) {
    const auto numbers = parameters.read(entry), gradient = parameters.read_gradient(entry);
    for (Index i = 0; i < std::min(samples, entry.size()); ++i) {
      const auto at = static_cast<std::size_t>(entry.size() <= samples ? i : random.below(entry.size()));
      auto moved = numbers;
      moved[at] = numbers[at] + kStep;
      parameters.write(entry, moved);
      const double above = value();
      moved[at] = numbers[at] - kStep;
      parameters.write(entry, moved);
      const double below = value();
      const double numeric = (above - below) / (2 * kStep), analytic = gradient[at] / 2;
      INFO(entry.name, " [", at, "]: ", analytic, ", but the difference quotient is ", numeric);
      CHECK(std::abs(analytic - numeric) <= kAbsolute + kRelative * std::abs(numeric));
      largest = std::max(largest, std::abs(numeric));
    }
    parameters.write(entry, numbers);
  }
  CHECK(largest > 1e-2);  // else the test compared nothing
}

/// The largest absolute difference between two vectors of equal size.
template <class A, class B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

/// A copy of `count` rows of an activation from row `first` on.
template <class Device>
std::vector<typename Device::Scalar> rows_of(Variable<Device> x, Index first, Index count) {
  std::vector<typename Device::Scalar> copy(static_cast<std::size_t>(count * x.cols()));
  for (Index i = 0; i < count; ++i) std::copy_n(x.value.row(first + i), x.cols(), copy.begin() + i * x.cols());
  return copy;
}
template <class Device>
std::vector<typename Device::Scalar> rows_of(Variable<Device> x) {
  return rows_of(x, 0, x.rows());
}

/// The message of the Error that an action throws.
template <class Action>
std::string complaint(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace attn_test
