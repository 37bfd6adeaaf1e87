#include "attn/decode/attention_maps.hpp"

#include <map>

#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 16, .heads = 4, .inner = 32};
constexpr RecurrentShape recurrent{.embedding = 6, .width = 6, .encoder_layers = 1, .decoder_layers = 1};
const std::vector<Token> source{4, 5, 6, 7, 3}, target{2, 8, 9, 10};  // 5 and 4 rows

template <class Model>
struct Fixture {
  D device{1};
  Model model{{.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords}};
  Parameters<D> parameters{device, model, 1};

  Fixture() { shake(parameters, 0.5); }
  std::vector<AttentionMap> maps() { return attention_maps(device, model, source, target); }

  /// What decoding notes while it is made to write the target: the rows of each layer's heads, by layer, head and row.
  std::map<std::pair<std::string, int>, std::vector<std::vector<double>>> decoding() {
    std::map<std::pair<std::string, int>, std::vector<std::vector<double>>> rows;
    detail::LayerNames<D> names;
    model.for_each_parameter(names);
    const auto note = [&](const std::vector<AttentionWeights<D>>& seen) {
      for (const auto& call : seen)
        for (Index row = 0; row < call.weights.rows; ++row) {
          const int head = static_cast<int>(row * call.heads / call.weights.rows);
          rows[{names.of(call.layer), head}].emplace_back(call.weights.row(row), call.weights.row(row) + call.weights.cols);
        }
    };
    std::vector<AttentionWeights<D>> seen;
    Tape<D> tape(device);
    tape.attention_weights = &seen;
    auto state = model.start(tape, upload(tape, Sentences{source}), 10);
    note(seen);
    for (const Token word : target) {
      seen.clear();
      Tape<D> step(device);
      step.attention_weights = &seen;
      next_logits(step, model, state, {word});
      note(seen);
    }
    return rows;
  }
};

/// Maps of the words as a whole are what decoding saw word by word; each row is a distribution, or looks at nothing.
template <class Model>
void check_against_decoding() {
  Fixture<Model> fixture;
  const auto steps = fixture.decoding();
  const auto maps = fixture.maps();
  CHECK(maps.size() == steps.size());
  for (const AttentionMap& map : maps) {
    INFO(map.layer, ", head ", map.head);
    REQUIRE(steps.count({map.layer, map.head}) == 1);
    const auto& rows = steps.at({map.layer, map.head});
    REQUIRE(static_cast<Index>(rows.size()) == map.rows);
    for (Index i = 0; i < map.rows; ++i) {
      const auto& row = rows[static_cast<std::size_t>(i)];  // of as many columns as there were keys at that step
      double sum = 0, worst = 0;
      for (Index j = 0; j < map.cols; ++j) {
        const double step = j < static_cast<Index>(row.size()) ? row[static_cast<std::size_t>(j)] : 0;
        worst = std::max(worst, std::abs(static_cast<double>(map(i, j)) - step));
        sum += static_cast<double>(map(i, j));
      }
      CHECK(worst <= 1e-6);
      const bool nothing_before = map.layer == "attention.past" && i == 0;
      CHECK(sum == doctest::Approx(nothing_before ? 0 : 1).epsilon(1e-5));
    }
  }
}

std::vector<std::string> layers(const std::vector<AttentionMap>& maps) {
  std::vector<std::string> names;
  for (const AttentionMap& map : maps)
    if (map.head == 0) names.push_back(map.layer);
  return names;
}

/// Attention without a layer around it.
struct Nameless {
  using DeviceType = D;
  Parameter<D> numbers{2, 4, Initializer::normal(1)};
  void hidden(Tape<D>& tape, const Text& source, const Text& target) const {
    const auto q = tape.make(target.rows.rows, 4), k = tape.make(source.rows.rows, 4);
    tape.device.zero(q.value), tape.device.zero(k.value);
    attention(q, target.rows, {k, k, source.rows}, {.heads = 2});
  }
  void for_each_parameter(auto&& visit) { visit("numbers", numbers); }
};

}  // namespace

TEST_CASE("attention maps: name every head of every Transformer layer as in checkpoints") {
  Fixture<Transformer<D, shape>> fixture;
  const auto maps = fixture.maps();
  CHECK(layers(maps) == std::vector<std::string>{"encoder.layers.0.attention", "encoder.layers.1.attention",
                                                 "decoder.layers.0.self_attention", "decoder.layers.0.cross_attention",
                                                 "decoder.layers.1.self_attention", "decoder.layers.1.cross_attention"});
  REQUIRE(maps.size() == 24);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const bool encoder = maps[i].layer.starts_with("encoder"), cross = maps[i].layer.ends_with("cross_attention");
    CHECK(maps[i].head == static_cast<int>(i % 4));
    CHECK(maps[i].heads == 4);
    CHECK(maps[i].of == (encoder ? Side::source : Side::target));
    CHECK(maps[i].at == (encoder || cross ? Side::source : Side::target));
    CHECK(maps[i].translates() == cross);
    CHECK(maps[i].rows == (encoder ? 5 : 4));
    CHECK(maps[i].cols == (encoder || cross ? 5 : 4));
    if (maps[i].at == Side::target) CHECK(maps[i](1, 2) == 0);  // what comes later is not seen
  }
  CHECK(maps[0].weights != maps[1].weights);
}

TEST_CASE("attention maps: match the attention of decoding for every model") {
  check_against_decoding<Transformer<D, shape>>();
  check_against_decoding<Transformer<D, shape, Linformer<3, 16>>>();
  check_against_decoding<Seq2Seq<D, recurrent, BothWays, OnEncoder<Multiplicative>>>();
  check_against_decoding<Seq2Seq<D, recurrent, BothWays, OnSelfAttention<2, Additive<4>>>>();
  check_against_decoding<Seq2Seq<D, recurrent, BothWays, OnEncoderAndPast<ScaledDot>, Lexical>>();
  check_against_decoding<InputFeeding<D, recurrent>>();
}

TEST_CASE("attention maps: Linformer columns are mixtures of positions") {
  Fixture<Transformer<D, shape, Linformer<3, 16>>> fixture;
  for (const AttentionMap& map : fixture.maps()) {
    const bool itself = map.layer.ends_with("self_attention");
    CHECK(map.at == (itself ? Side::target : Side::mixtures));
    CHECK(map.cols == (itself ? 4 : 3));
  }
}

TEST_CASE("attention maps: recurrent models have maps of source and target and head layers") {
  Fixture<Seq2Seq<D, recurrent, BothWays, OnSelfAttention<2, Additive<4>>>> fixture;
  const auto maps = fixture.maps();
  CHECK(layers(maps) ==
        std::vector<std::string>{"attention.source_heads", "attention.encoder", "attention.past_heads", "attention.past"});
  REQUIRE(maps.size() == 6);
  const auto is = [](const AttentionMap& map, Side of, Side at, Index rows, Index cols) {
    return map.of == of && map.at == at && map.rows == rows && map.cols == cols;
  };
  CHECK(is(maps[1], Side::source, Side::source, 5, 5));
  CHECK(is(maps[2], Side::target, Side::source, 4, 5));
  CHECK(is(maps[4], Side::target, Side::target, 4, 4));
  CHECK(is(maps[5], Side::target, Side::target, 4, 3));  // nobody looks at the last state

  Fixture<Seq2Seq<D, recurrent, BothWays>> blind;
  CHECK(blind.maps().empty());
  Fixture<InputFeeding<D, recurrent>> feeding;
  const auto steps = feeding.maps();
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].layer == "attention");
  CHECK(is(steps[0], Side::target, Side::source, 4, 5));
}

TEST_CASE("attention maps: the mean of the heads") {
  const AttentionMap one{"a", 0, 2, Side::target, Side::source, 1, 2, {0.25f, 0.75f}};
  const AttentionMap two{"a", 1, 2, Side::target, Side::source, 1, 2, {0.75f, 0.25f}};
  const AttentionMap alone{"b", 0, 1, Side::source, Side::source, 1, 1, {1}};
  const std::vector<AttentionMap> all{one, two, alone};
  const auto means = mean_of_heads(all);
  REQUIRE(means.size() == 2);
  CHECK(means[0].heads == 1);
  CHECK(means[0].weights == std::vector<float>{0.5f, 0.5f});
  CHECK(means[1].weights == std::vector<float>{1});
}

TEST_CASE("attention maps: unnamed attention layers are numbered") {
  Nameless model;
  D device(1);
  const auto maps = attention_maps(device, model, source, target);
  REQUIRE(maps.size() == 2);
  CHECK(maps[1].layer == "attention 1");
  CHECK(maps[1].at == Side::mixtures);  // nobody says that the keys are words
  CHECK(maps[1](3, 4) == doctest::Approx(0.2));
}
