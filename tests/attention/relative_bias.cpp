#include "attn/attention/relative_bias.hpp"

#include <numeric>

#include "attn/attention/multi_head.hpp"
#include "attn/attention/rope.hpp"
#include "attn/decode/forced.hpp"
#include "attn/decode/search.hpp"
#include "attn/transformer.hpp"
#include "support/generation.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

using T5 = RelativeBias<8, 6, DotProduct>;
constexpr TransformerShape kShape{.encoder_layers = 2, .decoder_layers = 2, .width = 8, .heads = 2, .inner = 12};
const Sentences texts = sentences({{1, 1, 1}, {}, {1}, {1, 1, 1, 1, 1, 1, 1}});

using Numbers = std::vector<double>;

/// T5's attention of one head and one sentence, in plain loops.
Numbers by_hand(const Numbers& q, const Numbers& k, const Numbers& v, const Numbers& bias_of, Index head, bool causal,
                Index first, Index count) {
  Numbers y(static_cast<std::size_t>(count * 4));
  const auto at = [&](const Numbers& x, Index i, Index j) {
    return x[static_cast<std::size_t>((first + i) * 8 + head * 4 + j)];
  };
  for (Index i = 0; i < count; ++i) {
    Numbers weights;
    double sum = 0;
    for (Index j = 0; j < (causal ? i + 1 : count); ++j) {
      double score = 0;
      for (Index c = 0; c < 4; ++c) score += at(q, i, c) * at(k, j, c);
      const Index away = std::abs(i - j);
      Index bucket =
          0;  // 8 buckets: both ways 0 1 [2 3 4) [4 ..), from 4 for later keys; causal 0 1 2 3, then by logarithms
      if (!causal)
        bucket = (j > i ? 4 : 0) + (away < 2 ? away : away < 4 ? 2 : 3);
      else
        bucket = away < 5 ? away : away < 6 ? 6 : 7;
      weights.push_back(std::exp(score + bias_of[static_cast<std::size_t>(bucket * 2 + head)]));
      sum += weights.back();
    }
    for (std::size_t j = 0; j < weights.size(); ++j)
      for (Index c = 0; c < 4; ++c)
        y[static_cast<std::size_t>(i * 4 + c)] += weights[j] / sum * at(v, static_cast<Index>(j), c);
  }
  return y;
}

}  // namespace

TEST_CASE("relative bias: distance buckets match T5") {
  const auto buckets = [](bool causal, std::vector<Index> distances) {
    std::vector<Token> found;
    for (const Index d : distances) found.push_back(relative_bucket(d, causal, 32, 128));
    return found;
  };
  CHECK(buckets(false, {0, -1, -7, -8, -11, -12, -15, -16, -22, -23, -32, -46, -64, -90, -91, -128, -1000}) ==
        std::vector<Token>{0, 1, 7, 8, 8, 9, 9, 10, 10, 11, 12, 13, 14, 14, 15, 15, 15});
  CHECK(buckets(false, {1, 7, 8, 12, 91, 1000}) == std::vector<Token>{17, 23, 24, 25, 31, 31});
  CHECK(buckets(true, {5, 0, -1, -15, -16, -18, -19, -20, -21, -112, -113, -128, -1000}) ==
        std::vector<Token>{0, 0, 1, 15, 16, 16, 17, 17, 18, 30, 31, 31, 31});
}

TEST_CASE_TEMPLATE("relative bias: gradients of self-attention match finite differences with and without dropout", Layer,
                   MultiHead<D, 8, 2, T5>, MultiHead<D, 8, 2, RelativeBias<8, 6>, Mask::causal>) {
  D device;
  Layer layer(0.3f);
  Input<D, 8> input(11);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto loss = [&](Tape<D>& tape) { return mixture(tape, layer(input(tape), upload(tape, texts).rows)); };
  check_gradients(parameters, loss);
  check_gradients(parameters, loss, TapeMode::training(1, 1));
}

TEST_CASE_TEMPLATE("relative bias: attention matches a plain loop", Layer, MultiHead<D, 8, 2, T5>,
                   MultiHead<D, 8, 2, T5, Mask::causal>) {
  D device;
  Layer layer;
  Input<D, 8> input(11);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  Tape<D> tape(device);
  const Ragged rows = upload(tape, texts).rows;
  const auto x = input(tape);
  auto [q, k, v] = split<3>(layer.in(x));
  constexpr bool kCausal = std::is_same_v<Layer, MultiHead<D, 8, 2, T5, Mask::causal>>;
  const auto table = parameters.read(parameters.find("0.query_key.table"));
  const auto all_q = rows_of<D>(q), all_k = rows_of<D>(k), all_v = rows_of<D>(v);
  Numbers seen;
  for (Index s = 0; s < texts.size(); ++s) {
    const Index first = texts.offsets[static_cast<std::size_t>(s)], count = texts.length(s);
    const auto left = by_hand(all_q, all_k, all_v, table, 0, kCausal, first, count),
               right = by_hand(all_q, all_k, all_v, table, 1, kCausal, first, count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      seen.insert(seen.end(), left.begin() + static_cast<std::ptrdiff_t>(4 * i),
                  left.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
      seen.insert(seen.end(), right.begin() + static_cast<std::ptrdiff_t>(4 * i),
                  right.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
    }
  }
  CHECK(largest_difference(rows_of<D>(layer(x, rows)), rows_of<D>(layer.out(tape.constant({seen.data(), 11, 8})))) < 1e-13);
}

TEST_CASE("relative bias: all layers of a stack share one table and cross-attention has none") {
  D device;
  Network<Transformer<D, kShape, T5, PreNorm, Relu, NoPositions>> network(
      device, {.source_vocabulary = 13, .target_vocabulary = 13}, 1);
  std::vector<std::string> tables;
  for (const auto& entry : network.parameters.entries())
    if (entry.name.ends_with("table") && entry.name.find("query_key") != std::string::npos) tables.push_back(entry.name);
  CHECK(tables == std::vector<std::string>{"encoder.layers.0.attention.query_key.table",
                                           "decoder.layers.0.self_attention.query_key.table"});
}

TEST_CASE("relative bias: cached generation equals generation from scratch") {
  check_generation<LanguageModel<D, kShape, PreNorm, Gelu, NoPositions, T5>>(kShape, 8);
}

TEST_CASE("relative bias: unrecorded search steps give the scores of forced decoding") {
  using Model = Transformer<D, kShape, T5, PreNorm, Relu, NoPositions>;
  using Writer = LanguageModel<D, kShape, PreNorm, Gelu, NoPositions, T5>;
  static_assert(!SupportsGraph<Model> && !SupportsGraph<Writer>);
  static_assert(SupportsGraph<Transformer<D, kShape>> && SupportsGraph<LanguageModel<D, kShape>>);
  static_assert(!supports_graph<T5> && supports_graph<Full<>> && supports_graph<Rope>);
  D device;
  Network<Model> network(device, {.source_vocabulary = 13, .target_vocabulary = 13, .shape = kShape}, 1);
  CHECK_FALSE(network->supports_graph_beam());
  const Sentences source = sentences({{4, 5, 6, 3}, {7, 3}, {5, 5, 8, 9, 4, 6, 3}});
  const auto found = beam_search(network, source, {.begin = 2, .end = 3, .limit = 6, .beam = 3});
  REQUIRE(found.size() == 3);
  Sentences texts, translations;
  for (Index i = 0; i < 3; ++i) {
    texts.push_back(source[i].first(source[i].size() - 1));
    translations.push_back(found[static_cast<std::size_t>(i)][0].tokens);
  }
  const auto forced = forced_log_probabilities(network, {2, 3, Token{3}}, texts, translations);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t count = found[i][0].tokens.size() + (found[i][0].complete ? 1 : 0);
    const double sum = std::accumulate(forced[i].begin(), forced[i].begin() + static_cast<std::ptrdiff_t>(count), 0.0);
    CHECK(found[i][0].log_probability == doctest::Approx(sum).epsilon(1e-9));
    CHECK(count > 1);
  }
}
