#include "attn/models/input_feeding.hpp"

#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr RecurrentShape shape{.embedding = 5, .width = 6, .encoder_layers = 1, .decoder_layers = 1};
constexpr RecurrentShape deeper{.embedding = 5, .width = 6, .encoder_layers = 2, .decoder_layers = 3};
constexpr RecurrentShape even{.embedding = 5, .width = 6, .encoder_layers = 2, .decoder_layers = 2};
constexpr RecurrentDropout rates{.embedding = 0.2f, .states = 0.3f, .attention = 0.1f};

template <class... Models>
void with_each(auto&& test) {
  (test.template operator()<Models>(), ...);
}
void with_every_kind(auto&& test) {
  with_each<InputFeeding<D, shape>, InputFeeding<D, deeper>, InputFeeding<D, shape, BothWays, NoAttention>,
            InputFeeding<D, even, BothWaysProjected, NoAttention>,
            InputFeeding<D, deeper, BothWays, Multiplicative, SharedKeyValue, Lexical>,
            InputFeeding<D, shape, OneWay, Additive<4>, KeyValue<4, 3>>,
            InputFeeding<D, shape, BothWaysProjected, ScaledDot, KeyValue<4, 3>, Lexical>>(test);
}

}  // namespace

TEST_CASE("input feeding: gradients of all parameters match finite differences with and without dropout") {
  with_every_kind([]<class M>() { check_model_gradients<M>(rates, 8); });
}

TEST_CASE("input feeding: step-by-step decoding equals decoding from scratch") {
  with_every_kind([]<class M>() {
    check_steps<M>();
    check_decoding<M>();
  });
}

TEST_CASE("input feeding: a sentence does not depend on the others in the batch") {
  D device(1);
  InputFeeding<D, deeper, BothWays, Multiplicative, SharedKeyValue, Lexical> model(
      {.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const Batch all = ragged_batch();
  Tape<D> tape(device);
  const auto together = model.hidden(tape, upload(tape, all.source), upload(tape, all.target_input));
  for (Index i = 0; i < all.source.size(); ++i) {
    Sentences source, target;
    source.push_back(all.source[i]);
    target.push_back(all.target_input[i]);
    const auto alone = model.hidden(tape, upload(tape, source), upload(tape, target));
    const Index first = all.target_input.offsets[static_cast<std::size_t>(i)];
    CHECK(largest_difference(rows_of(alone), rows_of(together, first, alone.rows())) <= 1e-13);
  }
}

TEST_CASE("input feeding: weights can be recorded in one call or step by step") {
  const auto check = []<class M>(std::size_t calls, Index rows) {
    D device(1);
    M model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
    Parameters<D> parameters(device, model, 1);
    Tape<D> tape(device);
    std::vector<AttentionWeights<D>> seen;
    tape.attention_weights = &seen;
    model.hidden(tape, upload(tape, sentences({{4, 5, 6}})), upload(tape, sentences({{2, 7, 8, 9}})));
    REQUIRE(seen.size() == calls);
    for (const auto& step : seen) {
      REQUIRE(step.weights.rows == rows);
      for (Index i = 0; i < rows; ++i)
        CHECK(step.weights(i, 0) + step.weights(i, 1) + step.weights(i, 2) == doctest::Approx(1).epsilon(1e-12));
    }
  };
  check.template operator()<InputFeeding<D, shape>>(1, 4);
  check.template operator()<InputFeeding<D, shape, BothWays, Additive<4>>>(4, 1);
}
