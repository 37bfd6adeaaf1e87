#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/ops/cross_entropy.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;
using attn::Smoothing;

namespace {

/// Cross-entropy of logits that stay as they are, and its gradient from them.
template <class T>
struct CrossEntropyOfLogits {
  Cpu<T>& device;
  Tensor<Cpu<T>> logits;
  Integers<Cpu<T>> labels;
  Smoothing smoothing;
  double amount;

  CrossEntropyOfLogits(Cpu<T>& on, Index classes, const std::vector<attn::Token>& ids, Smoothing kind = Smoothing::uniform,
                       double smoothed = 0)
      : device(on),
        logits(on, static_cast<Index>(ids.size()), classes, random_numbers(static_cast<Index>(ids.size()) * classes, 1, 3),
               2),
        labels(on, ids),
        smoothing(kind),
        amount(smoothed) {}

  double loss() {
    const Tensor<Cpu<T>> sums(device, 1, 2, 0.0);
    const Numbers before = logits.read();
    cross_entropy(device, {.logits = logits,
                           .labels = labels.data(),
                           .smoothing = smoothing,
                           .amount = amount,
                           .nll = sums.data(),
                           .loss = sums.data() + 1});
    CHECK(same_bits(logits.read(), before));
    return sums.read()[1];
  }
  Numbers dlogits(double scale, bool add = false, double start = kUnset) {
    const Tensor<Cpu<T>> result(device, logits.rows(), logits.cols(), start, 1), sums(device, 1, 2, 0.0);
    const Numbers before = logits.read();
    cross_entropy(device, {.logits = logits,
                           .labels = labels.data(),
                           .smoothing = smoothing,
                           .amount = amount,
                           .scale = scale,
                           .nll = sums.data(),
                           .loss = sums.data() + 1,
                           .dlogits = {result, add}});
    CHECK(result.outside_untouched());
    CHECK(same_bits(logits.read(), before));
    return result.read();
  }
};

}  // namespace

TEST_CASE_TEMPLATE(
    "cross_entropy: the gradient of logits that stay matches PyTorch for no smoothing and both kinds of smoothing", T,
    float, double) {
  Cpu<T> device(2);
  const auto check = [&](const std::string& name, Smoothing smoothing, double amount) {
    CAPTURE(name);
    CrossEntropyOfLogits<T> op(device, 9, reference_integers("cross_entropy/labels"), smoothing, amount);
    op.logits.write(reference("cross_entropy/logits"));
    CHECK(distance(op.dlogits(1), reference("cross_entropy/" + name + "/gradient/logits")) <= kReferenceTolerance<T>);
  };
  check("no_smoothing", Smoothing::uniform, 0);
  check("smoothing_pytorch", Smoothing::uniform, 0.1);
  check("smoothing_fairseq", Smoothing::others, 0.1);
}

TEST_CASE(
    "cross_entropy: the gradient of logits that stay matches scaled finite differences and overwrites or accumulates") {
  Cpu<double> device(2);
  for (const Smoothing smoothing : {Smoothing::uniform, Smoothing::others})
    for (const double amount : {0.0, 0.1})
      for (const Index classes : {1, 3, 17}) {
        const auto last = static_cast<attn::Token>(classes - 1);
        CrossEntropyOfLogits<double> op(device, classes, {0, last, last, 0}, smoothing, amount);
        const Numbers gradient = op.dlogits(1.5);
        check_gradient("logits", op.logits, gradient, [&] { return 1.5 * op.loss(); });
        CHECK(distance(op.dlogits(1.5, true, 2), sum_of(gradient, Numbers(gradient.size(), 2))) <= 1e-14);
      }
}

TEST_CASE_TEMPLATE("cross_entropy: the gradient of logits that stay has the same bits as the gradient in place", T, float,
                   double) {
  Cpu<T> device(2);
  CrossEntropyOfLogits<T> op(device, 300, {7, 299, 0, 41}, Smoothing::uniform, 0.1);
  const Numbers apart = op.dlogits(0.25);
  const Tensor<Cpu<T>> sums(device, 1, 2, 0.0);
  cross_entropy(device, {.logits = op.logits,
                         .labels = op.labels.data(),
                         .amount = 0.1,
                         .scale = 0.25,
                         .nll = sums.data(),
                         .loss = sums.data() + 1,
                         .dlogits = {op.logits}});
  CHECK(same_bits(apart, op.logits.read()));
}

TEST_CASE_TEMPLATE("cross_entropy: the gradient of logits that stay handles huge logits and empty input", T, float,
                   double) {
  Cpu<T> device(1);
  CrossEntropyOfLogits<T> huge(device, 3, {0, 1}), none(device, 3, {});
  huge.logits.write({1e4, -1e4, 0, 1e4, -1e4, 0});
  CHECK(distance(huge.dlogits(1), {0, 0, 0, 1, -1, 0}) <= 1e-12);
  CHECK(none.dlogits(1).empty());
}

TEST_CASE_TEMPLATE("cross_entropy: gradients of logits that stay do not depend on the number of threads", T, float,
                   double) {
  check_threads<T>([&](Cpu<T>& device) {
    std::vector<attn::Token> labels(33, 5);
    CrossEntropyOfLogits<T> op(device, 700, labels, Smoothing::others, 0.1);
    return op.dlogits(1.5);
  });
}
