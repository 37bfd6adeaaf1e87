#include "attn/attention/multi_head.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/feed_forward.hpp"
#include "attn/nn/lstm.hpp"
#include "attn/nn/output.hpp"
#include "attn/nn/residual.hpp"
#include "support/model_tools.hpp"
#include "support/time_major.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr int kWidth = 6, kWords = 9;
const Sentences text = sentences({{1, 3, 3, 0}, {}, {3}, {6, 1}}), labels = sentences({{2, 4, 4, 8}, {}, {1}, {7, 7}});

/// An embedding and a layer of an encoder.
struct Lower {
  Embedding<D, kWidth> embedding{kWords, 0.2f};
  MultiHead<D, kWidth, 2> attention{0.2f};
  Residual<D, kWidth, PreNorm> around_attention{0.2f}, around_inner{0.2f};
  FeedForward<D, kWidth, 10> inner{0.2f};

  /// The outputs of all its layers.
  std::vector<Variable<D>> operator()(Tape<D>& tape) const {
    const Text words = upload(tape, text);
    std::vector<Variable<D>> all{embedding(tape, words)};
    all.push_back(around_attention(all.back(), [&](auto x) { return attention(x, words.rows); }));
    all.push_back(around_inner(all.back(), [&](auto x) { return inner(x); }));
    return all;
  }
  void for_each_parameter(auto&& visit) {
    visit("embedding", embedding);
    visit("attention", attention);
    visit("around_attention", around_attention);
    visit("inner", inner);
    visit("around_inner", around_inner);
  }
};

/// A lower stack, and a layer above it that always learns.
struct Model {
  Lower lower;
  Linear<D, kWidth, kWidth> upper;
  Output<D, kWidth> output{kWords};

  Loss<D> loss(Tape<D>& tape) const { return output.loss(upper(lower(tape).back()), upload(tape, labels)); }
  void for_each_parameter(auto&& visit) {
    visit("lower", lower);
    visit("upper", upper);
    visit("output", output);
  }
};

}  // namespace

TEST_CASE("frozen layers: a frozen lower stack has no gradients and does not change those above") {
  D device(2);
  Model model;
  Parameters<D> parameters(device, model, 1);
  const auto gradients = [&] {
    device.zero(parameters.gradients(), parameters.size());
    Tape<D> tape(device, TapeMode::training(1, 2));
    auto loss = model.loss(tape);
    loss.backward();
    std::vector<std::vector<double>> all;
    for (const auto& entry : parameters.entries()) all.push_back(parameters.read_gradient(entry));
    return all;
  };
  const auto expected = gradients();
  parameters.freeze(model.lower);
  const auto found = gradients();
  std::size_t i = 0;
  for (const auto& entry : parameters.entries()) {
    CAPTURE(entry.name);
    const bool lower = entry.name.find("lower.") == 0;
    CHECK(expected[i] != std::vector<double>(expected[i].size(), 0));
    CHECK(found[i] == (lower ? std::vector<double>(expected[i].size(), 0) : expected[i]));
    ++i;
  }
  parameters.unfreeze(model.lower);
  CHECK(gradients() == expected);
}

TEST_CASE("frozen layers: a completely frozen lower stack records nothing for the backward pass") {
  D device(1);
  Model model;
  Parameters<D> parameters(device, model, 1);
  const auto recorded = [&](TapeMode mode) {
    Tape<D> tape(device, mode);
    const auto all = model.lower(tape);
    std::vector<bool> learns;
    for (const auto& x : all) learns.push_back(x.slot != nullptr);
    return std::pair(learns, device.tape_nodes.mark().used);
  };
  const auto inference = recorded(TapeMode::inference());
  CHECK(recorded(TapeMode::gradients()).first == std::vector<bool>(3, true));
  CHECK(recorded(TapeMode::gradients()).second > inference.second);
  parameters.freeze(model.lower);
  CHECK(recorded(TapeMode::gradients()) == inference);
  CHECK(recorded(TapeMode::gradients()).first == std::vector<bool>(3, false));
  parameters.unfreeze(model.lower.inner.up.bias);  // one number that learns, and what depends on it
  CHECK(recorded(TapeMode::gradients()).first == std::vector<bool>{false, false, true});
}

TEST_CASE("frozen layers: recurrent layers record nothing if they and all lower layers are frozen") {
  D device(1);
  LstmStack<D, 3, 4, 2, BidirectionalLstm> stack(0.2f);
  LearnedStates<D, 4, 2> start;
  Input<D, 3> input(7);
  Together model(stack, start, input);
  Parameters<D> parameters(device, model, 1);
  parameters.freeze(stack);
  parameters.freeze(start);
  Tape<D> tape(device, TapeMode::training(1, 2));
  const auto x = input(tape);
  const auto frozen = stack(tape.constant(x.value), time_major(tape, text), start(tape, 4));
  CHECK(frozen.h.slot == nullptr);
  for (const auto& state : frozen.last) CHECK((state.h.slot == nullptr && state.c.slot == nullptr));
  CHECK(stack(x, time_major(tape, text), start(tape, 4)).h.slot != nullptr);  // gradients pass through it
  parameters.unfreeze(stack.others[0]);
  const auto upper = stack(tape.constant(x.value), time_major(tape, text), start(tape, 4));
  CHECK(upper.last[0].h.slot == nullptr);
  CHECK(upper.last[1].h.slot != nullptr);
  CHECK(upper.h.slot != nullptr);
}
