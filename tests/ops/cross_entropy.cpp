#include "attn/ops/cross_entropy.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;
using attn::Smoothing;

namespace {

struct Result {
  double nll, loss;
  Numbers logits;
};

struct Options {
  Smoothing smoothing = Smoothing::uniform;
  double amount = 0;
  bool gradient = true;
  double scale = 1;
  double start = 0;  // of the sums
};

template <class T>
Result run(Cpu<T>& device, Index classes, const Numbers& logits, const std::vector<attn::Token>& labels, Options options) {
  const auto rows = static_cast<Index>(labels.size());
  const Tensor<Cpu<T>> tensor(device, rows, classes, logits, 1), sums(device, 1, 2, options.start);
  const Integers<Cpu<T>> ids(device, labels);
  cross_entropy(device, {.logits = tensor,
                         .labels = ids.data(),
                         .smoothing = options.smoothing,
                         .amount = options.amount,
                         .scale = options.scale,
                         .nll = sums.data(),
                         .loss = sums.data() + 1,
                         .dlogits = {options.gradient ? tensor.view() : attn::Matrix<T>{}}});
  CHECK(tensor.outside_untouched());
  return {sums.read()[0], sums.read()[1], tensor.read()};
}

double total(const Numbers& numbers) { return dot(numbers, Numbers(numbers.size(), 1)); }

}  // namespace

TEST_CASE_TEMPLATE("cross_entropy: matches PyTorch for no smoothing and both kinds of smoothing", T, float, double) {
  Cpu<T> device(2);
  const Numbers logits = reference("cross_entropy/logits");
  const auto labels = reference_integers("cross_entropy/labels");
  const double nll = total(reference("cross_entropy/no_smoothing/y"));
  const auto check = [&](const std::string& name, Smoothing smoothing, double amount) {
    CAPTURE(name);
    const Result result = run(device, 9, logits, labels, {.smoothing = smoothing, .amount = amount});
    CHECK(std::abs(result.nll - nll) <= 6 * kReferenceTolerance<T>);
    CHECK(std::abs(result.loss - total(reference("cross_entropy/" + name + "/y"))) <= 6 * kReferenceTolerance<T>);
    CHECK(distance(result.logits, reference("cross_entropy/" + name + "/gradient/logits")) <= kReferenceTolerance<T>);
  };
  check("no_smoothing", Smoothing::uniform, 0);
  check("smoothing_pytorch", Smoothing::uniform, 0.1);
  check("smoothing_fairseq", Smoothing::others, 0.1);
}

TEST_CASE("cross_entropy: smoothed labels sum to 1 and follow their definition") {
  const attn::SmoothedLabel uniform(Smoothing::uniform, 0.2, 5), others(Smoothing::others, 0.2, 5);
  CHECK(uniform.label == doctest::Approx(0.84));
  CHECK(uniform.other == doctest::Approx(0.04));
  CHECK(others.label == doctest::Approx(0.8));
  CHECK(others.other == doctest::Approx(0.05));
  CHECK(attn::SmoothedLabel(Smoothing::uniform, 0.2, 1).label == doctest::Approx(1));
}

TEST_CASE("cross_entropy: the gradient matches finite differences") {
  Cpu<double> device(2);
  const std::vector<attn::Token> labels{0, 6, 3, 3};
  for (const Smoothing smoothing : {Smoothing::uniform, Smoothing::others})
    for (const double amount : {0.0, 0.1, 0.9}) {
      CAPTURE(amount);
      const Options options{.smoothing = smoothing, .amount = amount, .scale = 0.5};
      Tensor<Cpu<double>> logits(device, 4, 7, random_numbers(28, 1, 3));
      const Numbers gradient = run(device, 7, logits.read(), labels, options).logits;
      check_gradient("logits", logits, gradient, [&] { return run(device, 7, logits.read(), labels, options).loss / 2; });
    }
}

TEST_CASE_TEMPLATE("cross_entropy: changes the logits only if the gradient is requested and accumulates the loss", T, float,
                   double) {
  Cpu<T> device(2);
  const Numbers logits{0.5, -1, 2, 0, 0, 0};
  const Result with = run(device, 3, logits, {2, 0}, {.amount = 0.1});
  const Result without = run(device, 3, logits, {2, 0}, {.amount = 0.1, .gradient = false, .start = 10});
  CHECK(without.logits == logits);
  CHECK(without.nll == doctest::Approx(10 + with.nll).epsilon(1e-6));
  CHECK(without.loss == doctest::Approx(10 + with.loss).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("cross_entropy: equal logits give the logarithm of the number of classes", T, float, double) {
  Cpu<T> device(2);
  for (const Smoothing smoothing : {Smoothing::uniform, Smoothing::others}) {
    const Result result = run(device, 50, Numbers(100, 3), {7, 49}, {.smoothing = smoothing, .amount = 0.1});
    CHECK(result.nll == doctest::Approx(2 * std::log(50)).epsilon(1e-6));
    CHECK(result.loss == doctest::Approx(2 * std::log(50)).epsilon(1e-6));
  }
}

TEST_CASE_TEMPLATE("cross_entropy: huge logits give finite and correct results", T, float, double) {
  Cpu<T> device(1);
  const Result result = run(device, 3, {1e4, -1e4, 0, 1e4, -1e4, 0}, {0, 1}, {});
  CHECK(result.nll == 2e4);
  CHECK(distance(result.logits, {0, 0, 0, 1, -1, 0}) <= 1e-12);
  const Result smooth = run(device, 2, {1e4, -1e4}, {0}, {.smoothing = Smoothing::others, .amount = 0.5});
  CHECK(smooth.loss == doctest::Approx(1e4).epsilon(1e-6));
  CHECK(distance(smooth.logits, {0.5, -0.5}) <= 1e-12);
}

TEST_CASE_TEMPLATE("cross_entropy: logits far below the maximum contribute nothing", T, float, double) {
  Cpu<T> device(1);
  for (const double far : {86.0, 87.5, 89.0, 100.0, 261.0, 400.0, 1e3, 1e4, 1e30}) {
    CAPTURE(far);
    Numbers logits(512, -far);  // enough for every vector
    logits[300] = logits[7] = 0;
    const Result result = run(device, 512, logits, {7}, {});
    CHECK(result.nll == doctest::Approx(std::log(2)).epsilon(1e-6));
    CHECK(std::abs(result.logits[7] + 0.5) <= 1e-6);
    CHECK(std::abs(result.logits[300] - 0.5) <= 1e-6);
    for (const std::size_t other : {0U, 8U, 299U, 511U})
      CHECK(std::abs(result.logits[other]) <= 1.1 * std::exp(-std::min(far, 86.0)));
  }
}

TEST_CASE_TEMPLATE("cross_entropy: no rows add nothing and a single class gives 0", T, float, double) {
  Cpu<T> device(2);
  const Result none = run(device, 5, {}, {}, {.start = 4});
  CHECK(none.nll == 4);
  CHECK(none.loss == 4);
  const Result one = run(device, 1, {3, -2}, {0, 0}, {.amount = 0.1});
  CHECK(std::abs(one.loss) <= 1e-6);
  CHECK(distance(one.logits, {0, 0}) <= 1e-7);
}

TEST_CASE_TEMPLATE("cross_entropy: the gradient of each row sums to 0", T, float, double) {
  Cpu<T> device(2);
  const Result result = run(device, 11, random_numbers(33, 1, 4), {1, 10, 4}, {.amount = 0.3, .scale = 7});
  for (int row = 0; row < 3; ++row)
    CHECK(std::abs(total(Numbers(result.logits.begin() + 11 * row, result.logits.begin() + 11 * (row + 1)))) <= 1e-5);
}

TEST_CASE_TEMPLATE("cross_entropy: results do not depend on the number of threads", T, float, double) {
  std::vector<attn::Token> labels;
  for (int i = 0; i < 50; ++i) labels.push_back(i % 37);
  check_threads<T>([&](Cpu<T>& device) {
    const Result result = run(device, 37, random_numbers(50 * 37, 1, 3), labels, {.amount = 0.1});
    return joined({{result.nll, result.loss}, result.logits});
  });
}

TEST_CASE_TEMPLATE("cross_entropy: a NaN logit gives a NaN loss", T, float, double) {
  Cpu<T> device(1);
  for (const std::size_t place : {0U, 41U, 102U}) {  // in vectors, and after them
    CAPTURE(place);
    for (const double wrong : {std::nan(""), HUGE_VAL}) {
      Numbers logits = random_numbers(103, 1, 3);
      logits[place] = wrong;
      CHECK(std::isnan(run(device, 103, logits, {7}, {}).nll));
    }
    Numbers logits = random_numbers(103, 1, 3);
    logits[place] = -HUGE_VAL;  // a class that cannot be
    const Result result = run(device, 103, logits, {7}, {});
    CHECK(std::isfinite(result.nll));
    CHECK(result.logits[place] < 1e-300);  // in double, Eigen has the smallest number for e to the -infinity
  }
}
