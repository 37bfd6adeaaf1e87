#include "attn/models/seq2seq.hpp"

#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr RecurrentShape shape{.embedding = 5, .width = 6, .encoder_layers = 2, .decoder_layers = 2};
constexpr RecurrentDropout rates{.embedding = 0.2f, .states = 0.3f, .attention = 0.1f};
using Pieces = KeyValue<4, 3>;

template <class Attends, class Prediction = FromStates, class Reading = BothWaysProjected>
using Model = Seq2Seq<D, shape, Reading, Attends, Prediction>;

template <class... Models>
void with_each(auto&& test) {
  (test.template operator()<Models>(), ...);
}

/// test<Model>() for a model of each kind: every place, every score, both memories, all readers, with and without words.
void with_every_kind(auto&& test) {
  with_each<Model<NoAttention>, Model<NoAttention, FromStates, OneWay>, Model<OnEncoder<DotProduct>, FromStates, BothWays>,
            Model<OnEncoder<Additive<4>>>, Model<OnEncoder<Multiplicative>, Lexical>, Model<OnEncoderAndPast<ScaledDot>>,
            Model<OnEncoderAndPast<Additive<4>, Pieces>>, Model<OnEncoderAndPast<ReducedRank<2>, Pieces>, Lexical>,
            Model<OnSelfAttention<2, Multiplicative>>, Model<OnSelfAttention<2, ScaledDot, Pieces>>,
            Model<OnSelfAttention<3, Additive<4>>, Lexical, OneWay>>(test);
}

}  // namespace

TEST_CASE("seq2seq: gradients of all parameters match finite differences with and without dropout") {
  with_every_kind([]<class M>() { check_model_gradients<M>(rates, 6); });
}

TEST_CASE("seq2seq: step-by-step decoding equals decoding from scratch") {
  with_every_kind([]<class M>() {
    check_steps<M>();
    check_decoding<M>();
  });
}

TEST_CASE("seq2seq: attention to the past is causal and empty at the first token") {
  D device(1);
  Model<OnSelfAttention<2, Additive<4>>> model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto run = [&](std::vector<Token> words, std::vector<AttentionWeights<D>>* seen = nullptr) {
    Tape<D> tape(device);
    tape.attention_weights = seen;
    const auto rows = rows_of(model.hidden(tape, upload(tape, sentences({{4, 5, 6}})), upload(tape, sentences({words}))));
    if (seen == nullptr) return rows;
    // In the order of the calls: the source's heads, attention at the source, the past's heads, attention back.
    REQUIRE(seen->size() == 4);
    CHECK((*seen)[0].heads == 2);
    const auto back = (*seen)[3].weights;
    REQUIRE(back.cols == 2);
    CHECK(back(0, 0) == 0);
    CHECK(back(1, 0) == doctest::Approx(1));
    CHECK(back(1, 1) == 0);
    CHECK(back(2, 0) + back(2, 1) == doctest::Approx(1));
    return rows;
  };
  std::vector<AttentionWeights<D>> seen;
  const auto before = run({2, 7, 8}, &seen), after = run({2, 7, 9});
  const std::size_t width = before.size() / 3;
  CHECK(std::equal(before.begin(), before.begin() + 2 * static_cast<std::ptrdiff_t>(width), after.begin()));
  CHECK(before != after);
  for (std::size_t i = 12; i < 18; ++i) CHECK(before[i] == 0);  // [h; c_source; c_past] of 6 each
}

TEST_CASE("seq2seq: the paper's models have the published sizes") {
  const auto count = []<class M>(const M*) {
    M model({.source_vocabulary = 14546, .target_vocabulary = 22892});
    ParameterWalk<D> walk;
    model.for_each_parameter(walk);
    Index sum = 0;
    for (const auto& found : walk.found) sum += found.parameter->size();
    return sum;
  };
  const auto lstm = [](Index in, Index width) { return 4 * width * (in + width + 1); };
  const Index plain = (14546 + 22892) * 128 + 2 * lstm(128, 64) + 2 * lstm(128, 64) + 2 * 2 * 128 + 3 * 128 * 64 +
                      lstm(128, 64) + lstm(64, 64);
  const auto output = [](Index width) { return (width + 1) * 22892; };
  const Index additive = 2 * 64 * 64 + 64;
  CHECK(count(static_cast<ComparisonModel<D>*>(nullptr)) == plain + output(64));
  CHECK(count(static_cast<ComparisonModel<D, OnEncoder<Additive<64>>>*>(nullptr)) == plain + additive + output(128));
  CHECK(count(static_cast<ComparisonModel<D, OnEncoderAndPast<Additive<64>>>*>(nullptr)) ==
        plain + 2 * additive + output(192));
  CHECK(count(static_cast<ComparisonModel<D, OnEncoderAndPast<Multiplicative>>*>(nullptr)) ==
        plain + 2 * 64 * 64 + output(192));
  CHECK(count(static_cast<ComparisonModel<D, OnSelfAttention<2, ScaledDot>>*>(nullptr)) ==
        plain + 2 * 4 * (64 * 64 + 64) + output(192));
  CHECK(count(static_cast<ComparisonModel<D, OnEncoder<Additive<56>, Keys48Values16>>*>(nullptr)) ==
        plain + 64 * 64 + 56 * (64 + 48 + 1) + output(64 + 16));
}
