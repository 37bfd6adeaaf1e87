#pragma once
#include <cmath>

#include "attn/ops/cross_entropy.hpp"
#include "attn/ops/decoding.hpp"
#include "attn/ops/embedding.hpp"
#include "cuda/guarded.hpp"

/// lengths, vocabulary, kinds: how many different tokens there are; width, gap; positions, first or each sentence's firsts; scale, dropout.
template <class Device>
Results embedding_case(Device& device, const OpCase& test, Precision precision) {
  const Layout<Device> layout(device, test.lengths("lengths"));
  const attn::Index rows = layout.rows(), width = test.size("width"), gap = test.size("gap");
  const attn::Index vocabulary = test.size("vocabulary"), first = test.size("first");
  std::vector<std::int32_t> ids = whole_numbers(rows, 1, test.size("kinds", vocabulary));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(vocabulary - 1 - id);  // the last row of the table is used
  const Integers<Device> tokens(device, ids);
  const Activations<Device> table(device, vocabulary, width, operand(vocabulary * width, 2, precision));
  const std::vector<std::int32_t> firsts = test.settings.contains("firsts")
                                               ? test.lengths("firsts")
                                               : std::vector<std::int32_t>{static_cast<std::int32_t>(first)};
  const Integers<Device> each_first(device, firsts);
  const attn::Index length = *std::max_element(firsts.begin(), firsts.end()) + attn::Ragged(layout).longest;
  const Activations<Device> positions(device, length, width, operand(length * width, 3, precision));
  const Activations<Device> y(device, rows, width, {}, gap),
      dy(device, rows, width, operand(rows * width, 4, precision), gap);
  attn::EmbeddingArgs<Device> forward{.tokens = tokens.data(),
                                      .rows = layout,
                                      .table = table,
                                      .first_position = first,
                                      .scale = test.number("scale", 1),
                                      .dropout = dropout_of(test),
                                      .y = y};
  if (test.settings.contains("firsts")) forward.first_positions = each_first.data();
  if (test.flag("positions")) forward.positions = positions;
  embedding(device, forward);

  const Reals<Device> dtable(device, vocabulary, width, operand(vocabulary * width, 5, precision));
  embedding_gradient(
      device,
      {.tokens = tokens.data(), .dy = dy, .scale = test.number("scale", 1), .dropout = dropout_of(test), .dtable = dtable});
  return {{"y", y.read("y")}, {.name = "dtable", .numbers = dtable.read("dtable"), .in_float = true}};
}

/// rows, width, gap.
template <class Device>
Results sinusoid_case(Device& device, const OpCase& test, Precision) {
  const Activations<Device> positions(device, test.size("rows"), test.size("width"), {}, test.size("gap"));
  sinusoid(device, positions.view());
  return {{"positions", positions.read("positions")}};
}

/// rows, classes, gap, bound; others: the other definition of smoothing; amount, scale; no_gradient.
template <class Device>
Results cross_entropy_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), classes = test.size("classes");
  const bool gradient = !test.flag("no_gradient");
  const Activations<Device> logits(device, rows, classes, operand(rows * classes, 1, precision, test.number("bound", 4)),
                                   test.size("gap"));
  const Integers<Device> labels(device, whole_numbers(rows, 2, classes));
  const Reals<Device> sums(device, 1, 2, {1, 2});
  cross_entropy(device, {.logits = logits,
                         .labels = labels.data(),
                         .smoothing = test.flag("others") ? attn::Smoothing::others : attn::Smoothing::uniform,
                         .amount = test.number("amount"),
                         .scale = test.number("scale", 1),
                         .nll = sums.data(),
                         .loss = sums.data() + 1,
                         .dlogits = {gradient ? logits.view() : attn::Matrix<typename Device::Scalar>{}}});
  const Numbers both = sums.read("sums");
  // One number, a sum of many: which order of adding is the luckier is chance.
  return {{.name = "nll", .numbers = {both[0]}, .in_float = true, .floor = 0x1p-21},
          {.name = "loss", .numbers = {both[1]}, .in_float = true, .floor = 0x1p-21},
          {.name = "dlogits", .numbers = logits.read("logits"), .exact = !gradient}};
}

/// rows, classes, gap, except; levels: how many different numbers there are, 0 for as many as there can be.
template <class Device>
Results argmax_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), classes = test.size("classes"), levels = test.size("levels");
  Numbers numbers = operand(rows * classes, 1, precision);
  if (levels > 0) {
    const auto whole = whole_numbers(rows * classes, 1, levels);
    numbers.assign(whole.begin(), whole.end());
  }
  const Activations<Device> logits(device, rows, classes, numbers, test.size("gap"));
  std::vector<attn::Token> best(static_cast<std::size_t>(rows) + 1, -1);
  attn::Buffer<attn::Token, typename Device::Memory> on_device(device, rows + 1);
  device.upload(on_device.data(), best.data(), rows + 1);
  argmax(device, {.logits = logits, .best = on_device.data(), .except = static_cast<attn::Token>(test.size("except", -1))});
  device.download(best.data(), on_device.data(), rows + 1);
  (void)logits.read("logits");
  return {{.name = "best", .numbers = Numbers(best.begin(), best.end()), .exact = true}};  // the last is -1 still
}

/// rows, classes, k, gap, except, renormalize; levels: as of argmax; only: every so many-th row has one choice. Log-probabilities are
/// compared here, with those of the choices in double: PyTorch's errors in them are of the last digit.
template <class Device>
Results top_k_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), classes = test.size("classes"), k = test.size("k"), every = test.size("only");
  Numbers numbers = operand(rows * classes, 1, precision);
  if (const attn::Index levels = test.size("levels"); levels > 0) {
    const auto whole = whole_numbers(rows * classes, 1, levels);
    numbers.assign(whole.begin(), whole.end());
  }
  const Activations<Device> logits(device, rows, classes, numbers, test.size("gap"));
  std::vector<std::int32_t> one_choice = whole_numbers(rows, 2, classes);
  for (attn::Index i = 0; i < rows; ++i)
    if (every == 0 || i % every != 0) one_choice[static_cast<std::size_t>(i)] = -1;
  const std::vector<std::int32_t> never =
      test.settings.contains("except") ? test.lengths("except") : std::vector<std::int32_t>{};
  const Integers<Device> only(device, one_choice), except(device, never);
  std::vector<attn::Token> best(static_cast<std::size_t>(rows * k) + 1, -7);
  attn::Buffer<attn::Token, typename Device::Memory> on_device(device, rows * k + 1);
  device.upload(on_device.data(), best.data(), rows * k + 1);
  const Reals<Device> log_probabilities(device, rows, k);
  top_k(device, {.logits = logits,
                 .best = {on_device.data(), rows, k},
                 .log_probabilities = log_probabilities,
                 .except = except.data(),
                 .excepted = static_cast<attn::Index>(never.size()),
                 .only = every > 0 ? only.data() : nullptr,
                 .renormalize = test.size("renormalize") > 0});
  device.download(best.data(), on_device.data(), rows * k + 1);
  (void)logits.read("logits");
  const Numbers found = log_probabilities.read("log_probabilities");
  for (attn::Index i = 0; i < rows; ++i) {
    const double* row = numbers.data() + i * classes;
    double most = -HUGE_VAL, sum = 0;
    const auto counts = [&](attn::Index j) {
      return test.size("renormalize") == 0 || std::ranges::find(never, static_cast<std::int32_t>(j)) == never.end();
    };
    for (attn::Index j = 0; j < classes; ++j) most = counts(j) ? std::max(most, row[j]) : most;
    for (attn::Index j = 0; j < classes; ++j) sum += counts(j) ? std::exp(row[j] - most) : 0;
    for (attn::Index j = 0; j < k; ++j) {
      const attn::Token token = best[static_cast<std::size_t>(i * k + j)];
      const double right = token < 0 ? -HUGE_VAL : row[token] - most - std::log(sum);
      const double ours = found[static_cast<std::size_t>(i * k + j)];
      attn::require(ours == right || std::abs(ours - right) <= 0x1p-20 * std::max(1.0, std::abs(right)), "log-probability ",
                    j, " of row ", i, " is ", ours, ", not ", right);
    }
  }
  return {{.name = "best", .numbers = Numbers(best.begin(), best.end()), .exact = true}};  // the last is -7 still
}
