#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/nn/linear.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/grouped.hpp"
#include "attn/optim/sgd.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/transfer.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

using D = Cpu<double>;

struct Scale {
  using DeviceType = D;
  Parameter<D> gain{3, 1, Initializer::constant(1)};
  void for_each_parameter(auto&& visit) { visit("gain", gain); }
};

struct Layer {
  using DeviceType = D;
  Linear<D> linear{3, 2};
  void for_each_parameter(auto&& visit) { visit("linear", linear); }
};

struct Run {
  D device{1};
  Network<Layer> network{device, 1};

  void backward(TapeMode mode, float rate = 0.5f) {
    Tape<D> tape(device, mode);
    sum(dropout(network->linear(upload(tape, {1, 2, 3}, 1, 3)), rate)).backward();
  }
  void check(auto&& optimiser) {
    const auto step = [&] { return error_of([&] { optimiser.step(0.1); }); };
    CHECK(contains(step(), "no backward pass since the last step"));
    backward(TapeMode::training(1, 1));
    CHECK(step() == "");
    CHECK(contains(step(), "no backward pass since the last step"));
    backward(TapeMode::training(1, 1));
    CHECK(contains(step(), "Number the steps: TapeMode::training(seed, step)"));
    backward(TapeMode::training(1, 2));
    CHECK(step() == "");
    for (int i = 0; i < 2; ++i) {
      backward(TapeMode::gradients());
      CHECK(step() == "");
      backward(TapeMode::training(1, 3), 0);  // a rate of 0 has no masks
      CHECK(step() == "");
    }
    network.parameters.gradients()[0] = 1;  // gradients from elsewhere
    CHECK(step() == "");
    const auto twice = [&](TapeMode first, TapeMode second, float rate = 0.5f) {
      backward(first, rate), backward(second, rate);
      return step();
    };
    CHECK(contains(twice(TapeMode::training(1, 4), TapeMode::training(1, 4)), "have the same dropout masks"));
    CHECK(twice(TapeMode::training(1, 5), TapeMode::training(1, 6)) == "");
    CHECK(twice(TapeMode::training(1, 7), TapeMode::training(1, 7), 0) == "");  // no masks
    CHECK(twice(TapeMode::gradients(), TapeMode::gradients()) == "");
    backward(TapeMode::training(1, 8));
    device.zero(network.parameters.gradients(), network.parameters.size());  // nothing is added up
    backward(TapeMode::training(1, 8));
    CHECK(step() == "");
  }
};

}  // namespace

TEST_CASE("optimisers: a step without a new backward pass or with reused dropout masks is an error") {
  Run adam, sgd, grouped;
  adam.check(Adam(adam.network));
  sgd.check(Sgd(sgd.network));
  grouped.check(Grouped(grouped.network, {{"*", AdamOptions{}}}));
}

TEST_CASE("optimisers: two networks on one device can alternate with the same dropout masks") {
  D device(1);
  Network<Layer> one(device, 1), other(device, 2);
  Adam for_one(one), for_other(other);
  for (std::uint64_t step = 1; step < 3; ++step) {
    for (auto* network : {&one, &other}) {
      Tape<D> tape(device, TapeMode::training(1, step));
      sum(dropout((*network)->linear(upload(tape, {1, 2, 3}, 1, 3)), 0.5f)).backward();
    }
    CHECK(error_of([&] { for_one.step(0.1), for_other.step(0.1); }) == "");
  }
}

TEST_CASE("optimisers: two networks that train only expression vectors can share dropout masks") {
  D device(1);
  Network<Scale> one(device, 1), other(device, 2);
  Adam for_one(one), for_other(other);
  for (auto* network : {&one, &other}) {
    Tape<D> tape(device, TapeMode::training(1, 1));
    sum(dropout(upload(tape, {1, 2, 3}, 1, 3) * (*network)->gain, 0.5f)).backward();
  }
  CHECK(error_of([&] { for_one.step(0.1), for_other.step(0.1); }) == "");
}
