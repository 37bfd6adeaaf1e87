#include "attn/ops/lstm.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "attn/cpu.hpp"
#include "support/lstm_op.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

/// The op on random operands: sentences of these lengths, two layers, values of which some columns are not mixed.
template <class T>
struct Feeding {
  using Device = Cpu<T>;
  static constexpr Index kWidth = 6, kMixed = 5, kValue = 8;
  static constexpr int kLayers = 2;
  Device& device;
  Layout<Device> target, source;
  Integers<Device> order;
  Index rows, places;
  std::deque<Tensor<Device>> kept;
  std::vector<T> lse;
  attn::InputFeedingArgs<Device> args;

  Tensor<Device>& random(Index height, Index cols, std::uint64_t seed) {
    return kept.emplace_back(device, height, cols, random_numbers(height * cols, seed));
  }
  Tensor<Device>& unset(Index height, Index cols) { return kept.emplace_back(device, height, cols, kUnset, 1); }

  Feeding(Device& on, const std::vector<std::int32_t>& lengths, const std::vector<std::int32_t>& sources, float rate)
      : device(on),
        target(on, lengths),
        source(on, sources),
        order(on, by_falling_length(lengths)),
        rows(target.rows()),
        places(source.rows()),
        lse(static_cast<std::size_t>(rows) + 1) {
    args = {.rows = target,
            .order = order.data(),
            .layers = kLayers,
            .layer = {},
            .keys = random(places, kWidth, 1),
            .values = random(places, kValue, 2),
            .source = source,
            .scale = 0.5,
            .mix = random(kWidth, kWidth + kMixed, 3),
            .dropout = {rate, attn::key_of_seed(1)},
            .seen = unset(rows, kWidth + kValue),
            .fed = unset(rows, kWidth),
            .lse = lse.data()};
    for (int l = 0; l < kLayers; ++l)
      args.layer[l] = {.input = random(4 * kWidth, kWidth, 4 + static_cast<std::uint64_t>(l)),
                       .recurrent = random(4 * kWidth, kWidth, 6 + static_cast<std::uint64_t>(l)),
                       .bias = l == 0 ? nullptr : random(1, 4 * kWidth, 8).data(),
                       .dropout = {l == 0 ? 0 : rate, attn::key_of_seed(2)},
                       .gates = l == 0 ? random(rows, 4 * kWidth, 9) : unset(rows, 4 * kWidth),
                       .c = unset(rows, kWidth),
                       .below = unset(rows, kWidth),
                       .before = unset(rows, kWidth)};
  }

  Numbers everything() {
    input_feeding(device, args);
    Numbers all;
    for (const auto& one : kept) all = joined({all, one.read()});
    auto &dcontext = random(rows, kValue, 10), &dmix = unset(rows, kWidth);
    input_feeding_gradient(device, {.forward = args, .dfed = random(rows, kWidth, 11), .dcontext = dcontext, .dmix = dmix});
    for (const auto& one : kept) {
      all = joined({all, one.read()});
      CHECK(one.outside_untouched());
    }
    return all;
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
Numbers times(const attn::Matrix<const double>& matrix, const Numbers& x) {
  Numbers y(static_cast<std::size_t>(matrix.rows), 0);
  for (Index i = 0; i < matrix.rows; ++i)
    for (Index j = 0; j < matrix.cols; ++j) y[static_cast<std::size_t>(i)] += matrix(i, j) * x[static_cast<std::size_t>(j)];
  return y;
}

}  // namespace

TEST_CASE("input_feeding: matches the formula") {
  using F = Feeding<double>;
  Cpu<double> device(2);
  F op(device, {3, 0, 4, 1}, {2, 3, 0, 5}, 0.25f);
  Numbers gates;  // of the first layer, before they are activated
  for (const auto& one : op.kept)
    if (one.data() == op.args.layer[0].gates.data) gates = one.read();
  input_feeding(device, op.args);
  const auto drop = [](const attn::Dropout& dropout, Index row, Numbers x) {
    for (std::size_t j = 0; j < x.size(); ++j) x[j] *= static_cast<double>(dropout.row(row)(static_cast<std::uint32_t>(j)));
    return x;
  };
  double worst = 0;
  for (Index s = 0; s < op.args.rows.count; ++s) {
    Numbers fed(F::kWidth, 0), h[F::kLayers] = {fed, fed}, c[F::kLayers] = {fed, fed};
    for (Index row = op.args.rows.begin[s]; row < op.args.rows.end[s]; ++row) {
      for (int l = 0; l < F::kLayers; ++l) {
        const auto& layer = op.args.layer[l];
        const Numbers x = l == 0 ? fed : drop(layer.dropout, row, h[l - 1]);
        const Numbers z = sum_of(times(layer.input, x), times(layer.recurrent, h[l]));
        for (std::size_t j = 0; j < F::kWidth; ++j) {
          const auto gate = [&](std::size_t k) {
            const std::size_t at = k * F::kWidth + j;
            return z[at] + (l == 0 ? gates[static_cast<std::size_t>(row) * 4 * F::kWidth + at] : layer.bias[at]);
          };
          c[l][j] = sigmoid(gate(1)) * c[l][j] + sigmoid(gate(0)) * std::tanh(gate(2));
          h[l][j] = sigmoid(gate(3)) * std::tanh(c[l][j]);
        }
      }
      const Index first = op.args.source.begin[s], count = op.args.source.length(s);
      Numbers weights = times(op.args.keys.row_range(first, count), h[F::kLayers - 1]), context(F::kValue, 0);
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(0.5 * weight);
      for (Index j = 0; j < count; ++j)
        for (Index k = 0; k < F::kValue; ++k)
          context[static_cast<std::size_t>(k)] += weights[static_cast<std::size_t>(j)] / sum * op.args.values(first + j, k);
      fed = times(op.args.mix, joined({h[F::kLayers - 1], Numbers(context.begin(), context.begin() + F::kMixed)}));
      for (double& a : fed) a = std::tanh(a);
      fed = drop(op.args.dropout, row, fed);
      for (std::size_t j = 0; j < F::kWidth; ++j) worst = std::max(worst, std::abs(fed[j] - op.args.fed.row(row)[j]));
      for (std::size_t j = 0; j < F::kValue; ++j)
        worst = std::max(worst, std::abs(context[j] - op.args.seen.row(row)[F::kWidth + j]));
    }
  }
  CHECK(worst <= 1e-12);
}

TEST_CASE_TEMPLATE("input_feeding: results do not depend on the number of threads", T, float, double) {
  for (const float rate : {0.0f, 0.25f})
    check_threads<T>([rate](Cpu<T>& device) {
      return Feeding<T>(device, {3, 0, 4, 1, 2, 5, 5}, {2, 3, 0, 5, 1, 4, 4}, rate).everything();
    });
}

TEST_CASE("input_feeding: accepts empty input") {
  Cpu<double> device(2);
  CHECK(Feeding<double>(device, {}, {}, 0).everything().size() > 0);  // weights, untouched
  CHECK(Feeding<double>(device, {0, 0}, {0, 2}, 0).everything().size() > 0);
}
