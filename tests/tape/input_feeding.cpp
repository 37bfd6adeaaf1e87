#include "attn/tape/input_feeding.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"
#include "support/time_major.hpp"

using attn::Index;
using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

namespace {

constexpr int kWords = 3, kWidth = 4, kValue = 7, kMixed = 5, kLayers = 2;  // two of the values' columns are not mixed
const std::vector<std::int32_t> offsets{0, 3, 3, 7, 8}, source_offsets{0, 2, 3, 3, 6};  // the third looks at nothing
constexpr Index kSentences = 4, kRows = 8, kSourceRows = 6;

/// A decoder, and what its loss depends on.
struct Case {
  Device device{2};
  TestParameter<Device> input0{device, 4 * kWidth, kWords + kWidth, 1}, recurrent0{device, 4 * kWidth, kWidth, 2},
      bias0{device, 4 * kWidth, 1, 3}, input1{device, 4 * kWidth, kWidth, 4}, recurrent1{device, 4 * kWidth, kWidth, 5},
      bias1{device, 4 * kWidth, 1, 6}, mix{device, kWidth, kWidth + kMixed, 7};
  Tensor<Device> words{device, kRows, kWords, random_numbers(kRows* kWords, 8)};
  Tensor<Device> keys{device, kSourceRows, kWidth, random_numbers(kSourceRows* kWidth, 9)};
  Tensor<Device> values_{device, kSourceRows, kValue, random_numbers(kSourceRows* kValue, 10)};
  Numbers dfed = random_numbers(kRows * kWidth, 11), dcontext = random_numbers(kRows * kValue, 12);
  TapeMode mode = TapeMode::gradients();
  int used = 3;  // 1: what is fed, 2: the contexts

  struct Run {
    attn::Variable<Device, kWords> words;
    attn::KeysValues<Device, kWidth, kValue> source;
    attn::InputFeedingResult<Device> y;
  };

  attn::InputFeedingWeights<Device> weights() const {
    return {{attn::LstmWeights<Device>{input0, recurrent0, bias0}, {input1, recurrent1, bias1}}, mix, 0.3f, 0.2f};
  }
  Run run(Tape& tape) {
    Run run;
    run.words = input<kWords>(tape, words.read());
    run.source = {input<kWidth>(tape, keys.read()), input<kValue>(tape, values_.read()),
                  attn::upload_offsets(tape, source_offsets.data(), kSentences)};
    const auto layout = attn::time_major(tape, attn::upload_offsets(tape, offsets.data(), kSentences), offsets.data());
    run.y = attn::input_feeding(run.words, layout, run.source, 0.7, weights());
    return run;
  }
  double loss() {
    TapeMode forward = mode;
    forward.record = false;
    Tape tape(device, forward);
    const Run result = run(tape);
    double sum = 0;
    if (used & 1) sum += dot(dfed, values(tape, result.y.fed));
    if (used & 2) sum += dot(dcontext, values(tape, result.y.context));
    return sum;
  }
  void check() {
    auto all = {&input0, &recurrent0, &bias0, &input1, &recurrent1, &bias1, &mix};
    Tape tape(device, mode);
    const Run forward = run(tape);
    if (used & 1) contribute(tape, forward.y.fed, dfed);
    if (used & 2) contribute(tape, forward.y.context, dcontext);
    tape.backward();
    const auto at = [&] { return loss(); };
    check_gradient("words", words, gradient(tape, forward.words), at);
    check_gradient("keys", keys, gradient(tape, forward.source.keys), at);
    check_gradient("values", values_, gradient(tape, forward.source.values), at);
    for (auto* parameter : all) check_gradient("a weight", parameter->numbers, parameter->gradients.read(), at);
  }
};

}  // namespace

TEST_CASE("input_feeding: gradients match finite differences for any used results and dropout") {
  for (const TapeMode mode : {TapeMode::gradients(), TapeMode::training(1, 2)})
    for (int used = 1; used < 4; ++used) {
      CAPTURE(mode.dropout);
      CAPTURE(used);
      Case all;
      all.mode = mode;
      all.used = used;
      all.check();
    }
}

TEST_CASE("input_feeding: drops the fed input and the connections between layers") {
  Case all;
  all.mode = TapeMode::training(1, 2);
  Tape plain(all.device);
  const auto without = all.run(plain);
  Tape tape(all.device, {.record = false, .dropout = true, .key = attn::key_of_seed(1)});
  const auto with = all.run(tape);
  Index zeros = 0;
  for (const double number : values(tape, with.y.fed)) zeros += number == 0;
  CHECK(zeros > 0);
  CHECK(zeros < kRows * kWidth / 2);
  CHECK(with.y.context.value(0, 0) != without.y.context.value(0, 0));
}

TEST_CASE("input_feeding: the error for mismatched rows or sentences names both numbers") {
  Case all;
  Tape tape(all.device);
  const auto layout = attn::one_step(tape, 2);
  const attn::KeysValues<Device, kWidth, kValue> source{tape.make(6, kWidth), tape.make(6, kValue),
                                                        attn::upload_offsets(tape, source_offsets.data(), 4)};
  CHECK(contains(error_of([&] { attn::input_feeding(tape.make(5, kWords), layout, source, 1, all.weights()); }),
                 "5 rows of words for sentences of 2"));
  CHECK(contains(error_of([&] { attn::input_feeding(tape.make(2, kWords), layout, source, 1, all.weights()); }),
                 "2 target sentences, but 4 source sentences"));
}
