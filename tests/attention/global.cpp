#include "attn/attention/global.hpp"

#include <numeric>

#include "attn/attention/multi_head.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr int kWidth = 6;

template <class Score, class Memory>
using Attention = GlobalAttention<D, kWidth, kWidth, Score, Memory>;
using Narrow = KeyValue<4, 3>;
using Same = KeyValue<kWidth, 2>;  // keys that are as wide as the states

const Sentences queries = sentences({{1, 1, 1}, {}, {1}, {1, 1, 1, 1}, {1, 1}});
const Sentences keys = sentences({{1, 1}, {1}, {1, 1, 1, 1}, {1}, {}});  // the last queries have nothing to look at

template <class... Layers>
void with_each(auto&& test) {
  (test.template operator()<Layers>(), ...);
}

/// test<Layer>() for each score with each memory.
void every_score_and_memory(auto&& test) {
  with_each<Attention<DotProduct, SharedKeyValue>, Attention<ScaledDot, SharedKeyValue>,
            Attention<Multiplicative, SharedKeyValue>, Attention<ReducedRank<2>, SharedKeyValue>,
            Attention<Additive<5>, SharedKeyValue>, Attention<DotProduct, Narrow>, Attention<ScaledDot, Narrow>,
            Attention<Multiplicative, Narrow>, Attention<ReducedRank<2>, Narrow>, Attention<Additive<5>, Narrow>,
            Attention<ScaledDot, Same>>(test);
}

}  // namespace

TEST_CASE("global attention: cross-attention gradients match finite differences for each score and memory") {
  every_score_and_memory([]<class Layer>() {
    D device(1);
    Layer layer;
    Input<D, kWidth> input(10), memory(8);
    Together model(layer, input, memory);
    Parameters<D> parameters(device, model, 1);
    shake(parameters);
    check_gradients(parameters, [&](Tape<D>& tape) {
      const auto remembered = layer.remember(memory(tape), upload(tape, keys).rows);
      return mixture(tape, layer(input(tape), upload(tape, queries).rows, remembered));
    });
  });
}

TEST_CASE("global attention: self-attention gradients match finite differences for each score and memory") {
  every_score_and_memory([]<class Layer>() {
    D device(1);
    Layer layer;
    Input<D, kWidth> input(10);
    Together model(layer, input);
    Parameters<D> parameters(device, model, 1);
    shake(parameters);
    check_gradients(parameters, [&](Tape<D>& tape) {
      const auto x = input(tape);
      const Text text = upload(tape, queries);
      return mixture(tape, layer(x, text.rows, layer.remember(x, all_but_last(tape, text)), true));
    });
  });
}

TEST_CASE("global attention: step-by-step attention to the past equals all steps at once") {
  every_score_and_memory([]<class Layer>() {
    D device(1);
    Layer layer;
    Input<D, kWidth> input(5);
    Together model(layer, input);
    Parameters<D> parameters(device, model, 1);
    shake(parameters);
    Tape<D> tape(device);
    const auto x = input(tape);
    const Text text = upload(tape, sentences({{1, 1, 1, 1, 1}}));
    const auto all = layer(x, text.rows, layer.remember(x, all_but_last(tape, text)), true);
    CHECK(rows_of(all, 0, 1) == std::vector<double>(Layer::value_width, 0));  // it has no past
    for (Index t = 1; t < 5; ++t) {
      const std::int32_t one[] = {0, 1}, before[] = {0, static_cast<std::int32_t>(t)};
      const auto newest = tape.constant(x.value.row_range(t, 1)), past = tape.constant(x.value.row_range(0, t));
      const auto memory = layer.remember(past, upload_offsets(tape, before, 1));
      const auto step = layer(newest, upload_offsets(tape, one, 1), memory, true);
      CHECK(largest_difference(rows_of(step), rows_of(all, t, 1)) <= 1e-14);
    }
  });
}

TEST_CASE("global attention: scores match the papers") {
  D device(1);
  using Vector = std::vector<double>;
  const auto dot = [](const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); };
  const auto times = [](const Vector& matrix, const Vector& x) {  // row by row
    Vector y(matrix.size() / x.size());
    for (std::size_t i = 0; i < matrix.size(); ++i) y[i / x.size()] += matrix[i] * x[i % x.size()];
    return y;
  };
  // From the weights of one query over three keys back to the differences of their scores.
  const auto check = [&]<class Layer>(const Layer*, auto&& score) {
    Layer layer;
    Input<D, 2> query(1);
    Input<D, 3> states(3);
    Together model(layer, query, states);
    Parameters<D> parameters(device, model, 5);
    Tape<D> tape(device);
    std::vector<AttentionWeights<D>> seen;
    tape.attention_weights = &seen;
    const auto q = query(tape);
    const auto h = states(tape);
    const auto memory = layer.remember(h, upload(tape, sentences({{1, 1, 1}})).rows);
    layer(q, upload(tape, sentences({{1}})).rows, memory);
    REQUIRE(seen.size() == 1);
    const auto p = seen[0].weights;
    CHECK(p(0, 0) + p(0, 1) + p(0, 2) == doctest::Approx(1).epsilon(1e-12));
    const auto read = [&](const char* name) { return parameters.read(parameters.find(name)); };
    Vector scores;
    for (Index j = 0; j < 3; ++j) scores.push_back(score(read, rows_of(q), rows_of(h, j, 1)));
    CHECK(std::log(p(0, 1) / p(0, 0)) == doctest::Approx(scores[1] - scores[0]).epsilon(1e-10));
    CHECK(std::log(p(0, 2) / p(0, 0)) == doctest::Approx(scores[2] - scores[0]).epsilon(1e-10));
    CHECK(scores[1] != scores[0]);
  };
  const GlobalAttention<D, 2, 3, Multiplicative>* general = nullptr;
  check(general, [&](auto& read, Vector s, Vector h) { return dot(s, times(read("0.score.weight"), h)); });
  const GlobalAttention<D, 2, 3, ReducedRank<4>>* reduced = nullptr;
  check(reduced, [&](auto& read, Vector s, Vector h) {
    return dot(times(read("0.score.query.weight"), s), times(read("0.score.key.weight"), h));
  });
  const GlobalAttention<D, 2, 3, Additive<4>>* additive = nullptr;
  check(additive, [&](auto& read, Vector s, Vector h) {
    Vector hidden = times(read("0.score.key.weight"), h);
    const Vector other = times(read("0.score.query.weight"), s);
    for (std::size_t i = 0; i < 4; ++i) hidden[i] = std::tanh(hidden[i] + other[i]);
    return dot(read("0.score.v"), hidden);
  });
  const GlobalAttention<D, 2, 3, Multiplicative, KeyValue<5, 2>>* split = nullptr;
  check(split, [&](auto& read, Vector s, Vector h) {
    Vector key = times(read("0.memory.weight"), h);
    key.resize(5);
    return dot(s, times(read("0.score.weight"), key));
  });
  const GlobalAttention<D, 2, 3, ScaledDot, KeyValue<5, 2>>* scaled = nullptr;
  check(scaled, [&](auto& read, Vector s, Vector h) {
    Vector key = times(read("0.memory.weight"), h);
    key.resize(5);
    return dot(times(read("0.query.weight"), s), key) / std::sqrt(5.0);
  });
}

TEST_CASE("global attention: a tape records the weights of every head on request") {
  D device(1);
  MultiHead<D, kWidth, 2> heads;
  Attention<Additive<5>, SharedKeyValue> additive;
  Input<D, kWidth> input(10), memory(8);
  Together model(heads, additive, input, memory);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  Tape<D> tape(device);
  std::vector<AttentionWeights<D>> seen;
  tape.attention_weights = &seen;
  const Text from = upload(tape, queries), to = upload(tape, keys);
  heads(input(tape), from.rows);
  const auto context = additive(input(tape), from.rows, additive.remember(memory(tape), to.rows));
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].heads == 2);
  REQUIRE(seen[0].weights.rows == 20);
  REQUIRE(seen[0].weights.cols == 4);
  for (Index i = 0; i < 20; ++i) {
    double sum = 0;
    for (Index j = 0; j < 4; ++j) sum += seen[0].weights(i, j);
    CHECK(sum == doctest::Approx(1).epsilon(1e-12));
  }
  CHECK(seen[0].weights(0, 3) == 0);  // the first sentence has three words
  CHECK(seen[1].heads == 1);
  const auto states = rows_of(memory(tape), 3, 4);  // of the third sentence, which row 3 asks
  for (Index c = 0; c < kWidth; ++c) {
    double mean = 0;
    for (Index j = 0; j < 4; ++j) mean += seen[1].weights(3, j) * states[static_cast<std::size_t>(j * kWidth + c)];
    CHECK(context.value(3, c) == doctest::Approx(mean).epsilon(1e-12));
  }
}
