// Models whose parameters have no memory, or no gradients.

#include "attn/optim/adam.hpp"
#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 8, .heads = 2, .inner = 12};
constexpr RecurrentShape recurrent{.words = 4, .width = 6, .encoder_layers = 1, .decoder_layers = 1};

void with_each(auto&& test) {
  test.template operator()<Transformer<D, shape>>();
  test.template operator()<Transformer<D, shape, Linformer<3, 12>, PreNorm>>();
  test.template operator()<Seq2Seq<D, recurrent, BothWaysProjected, OnEncoderAndPast<Additive<4>>>>();
  test.template operator()<InputFeeding<D, recurrent>>();
}

}  // namespace

TEST_CASE("a model without a network is an error, not a crash, and the device goes on") {
  with_each([]<class Model>() {
    D device(1);
    const Model model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
    for (const TapeMode mode : {TapeMode::inference(), TapeMode::training(1, 1)}) {
      Tape<D> tape(device, mode);
      CHECK(complaint([&] { model.loss(tape, ragged_batch()); }).find("make a Network of its model") != std::string::npos);
    }
    Network<Model> network(device, {.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords}, 1);
    Tape<D> tape(device, TapeMode::training(1, 1));
    CHECK(network->loss(tape, ragged_batch()).mean(device) > 1);
    tape.backward();
  });
}

TEST_CASE("a network for inference computes, and says so where it is to learn") {
  with_each([]<class Model>() {
    D device(1);
    const typename Model::Options options{.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords};
    Network<Model> trained(device, options, 1), used(device, options, Inference{});
    for (const auto& entry : trained.parameters.entries()) used.parameters.write(entry, trained.parameters.read(entry));
    const auto loss = [&](const Model& model) {
      Tape<D> tape(device);
      return model.loss(tape, ragged_batch()).mean(device);
    };
    // its weights are packed, and on some processors products with those add up in another order
    CHECK(loss(*used) == doctest::Approx(loss(*trained)).epsilon(1e-13));
    Tape<D> tape(device, TapeMode::training(1, 1));
    CHECK(complaint([&] { used->loss(tape, ragged_batch()); }).find("made for inference") != std::string::npos);
    CHECK(complaint([&] { Adam adam(used); }).find("made for inference") != std::string::npos);
  });
}

TEST_CASE("layers whose gradients are vectors say that there are none too") {
  D device(1);
  LayerNorm<D, 8> norm;
  const Parameters<D> parameters(device, norm, Inference{});
  Tape<D> tape(device, TapeMode::gradients());
  auto x = tape.make<8>(2);
  device.zero(x.value);
  mixture(tape, norm(tape, x));
  CHECK(complaint([&] { tape.backward(); }).find("has no gradient") != std::string::npos);
}
