// Models whose parameters have no memory, or no gradients.

#include "attn/optim/adam.hpp"
#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 8, .heads = 2, .inner = 12};
constexpr RecurrentShape recurrent{.embedding = 4, .width = 6, .encoder_layers = 1, .decoder_layers = 1};

void with_each(auto&& test) {
  test.template operator()<Transformer<D, shape>>();
  test.template operator()<Transformer<D, shape, Linformer<3, 12>, PreNorm>>();
  test.template operator()<Seq2Seq<D, recurrent, BothWaysProjected, OnEncoderAndPast<Additive<4>>>>();
  test.template operator()<InputFeeding<D, recurrent>>();
}

}  // namespace

TEST_CASE("unbound model: using a model without a network is an error and the device remains usable") {
  with_each([]<class Model>() {
    D device(1);
    const Model model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
    for (const TapeMode mode : {TapeMode::inference(), TapeMode::training(1, 1)}) {
      Tape<D> tape(device, mode);
      CHECK(complaint([&] { model.loss(tape, ragged_batch()); }).find("Create a Network of its model") !=
            std::string::npos);
    }
    Network<Model> network(device, {.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords}, 1);
    Tape<D> tape(device, TapeMode::training(1, 1));
    auto loss = network->loss(tape, ragged_batch());
    loss.backward();
    CHECK(loss.mean() > 1);
  });
}

TEST_CASE("unbound model: an inference network computes and reports an error in training") {
  with_each([]<class Model>() {
    D device(1);
    const typename Model::Options options{.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords};
    Network<Model> trained(device, options, 1), used(device, options, Inference{});
    for (const auto& entry : trained.parameters.entries()) used.parameters.write(entry, trained.parameters.read(entry));
    const auto loss = [&](const Model& model) {
      Tape<D> tape(device);
      return model.loss(tape, ragged_batch()).mean();
    };
    // its weights are packed, and on some processors products with those add up in another order
    CHECK(loss(*used) == doctest::Approx(loss(*trained)).epsilon(1e-13));
    Tape<D> tape(device, TapeMode::training(1, 1));
    CHECK(complaint([&] { used->loss(tape, ragged_batch()).backward(); }) ==
          "backward: this loss depends on no trainable parameter: its parameters are frozen, or its network was made with "
          "Inference{}");
    CHECK(complaint([&] { Adam adam(used); }).find("made for inference") != std::string::npos);
  });
}

TEST_CASE("unbound model: an inference layer gets no gradient but passes it to its input") {
  D device(1);
  const auto gradient_of_input = [&](const auto& seed_or_inference) {
    LayerNorm<D, 8> norm;
    Parameters<D> parameters(device, norm, seed_or_inference);
    for (const auto& entry : parameters.entries()) parameters.write(entry, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8});
    Tape<D> tape(device, TapeMode::gradients());
    const auto x = tape.make(2, 8);
    for (Index i = 0; i < 16; ++i) x.value.data[i] = std::sin(static_cast<double>(i));
    mixture(tape, norm(x));
    tape.backward();
    const double* gradient = x.slot->gradient.data;
    return std::vector<double>(gradient, gradient + 16);
  };
  const auto expected = gradient_of_input(std::uint64_t{1});
  CHECK(gradient_of_input(Inference{}) == expected);
  CHECK(largest_difference(expected, std::vector<double>(16, 0)) > 0.1);
}
