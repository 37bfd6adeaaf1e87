#include "attn/decode/greedy.hpp"

#include <optional>
#include <set>

#include "support/errors.hpp"
#include "support/search_models.hpp"

using namespace attn_test;

namespace {

using OnPast = Seq2Seq<D, recurrent, BothWays, OnEncoderAndPast<ReducedRank<2>, KeyValue<4, 3>>>;
using Feeding = InputFeeding<D, recurrent, BothWays, Additive<4>, SharedKeyValue, Lexical>;

/// As many sentences as make rows worth leaving out, of very different lengths.
Sentences many() {
  std::vector<Index> lengths;
  for (Index i = 0; i < 37; ++i) lengths.push_back(1 + i * 5 % 11);
  return random_sentences(lengths, kSourceWords, 9);
}

/// The token that would end these sentences at the most different places.
Token ends_variously(const std::vector<std::vector<Token>>& sentences) {
  Token best = 0;
  std::size_t most = 0;
  for (Token token = 0; token < kTargetWords; ++token) {
    std::set<std::ptrdiff_t> places;
    for (const auto& sentence : sentences) places.insert(std::ranges::find(sentence, token) - sentence.begin());
    if (places.size() > most) most = places.size(), best = token;
  }
  return best;
}

}  // namespace

TEST_CASE_TEMPLATE("graph greedy: writes the same tokens as greedy search", M, Transformer<D, shape>,
                   Transformer<D, shape, Full<>, PreNorm>, Transformer<D, shape, Linformer<3, 16>>, OnPast, Feeding) {
  const Sentences source = many();
  GreedyOptions options{.begin = 2, .end = -1, .limit = 17};
  std::set<std::size_t> lengths;
  std::vector<std::vector<Token>> plain;
  std::optional<Fixture<M>> chosen;
  for (std::uint64_t seed = 1; seed < 30 && lengths.size() < 3; ++seed) {  // until they end at different steps
    chosen.emplace(seed);
    options.end = -1;
    options.end = ends_variously(greedy(chosen->device, chosen->model, source, options));
    plain = greedy(chosen->device, chosen->model, source, options);
    lengths.clear();
    for (const auto& translation : plain) lengths.insert(translation.size());
  }
  REQUIRE(lengths.size() > 2);
  Fixture<M>& fixture = *chosen;
  for (const Index ahead : {0, 1, 4, 100}) {
    CAPTURE(ahead);
    CHECK(graph_greedy(fixture.device, fixture.model, source, options, ahead) == plain);
  }
  CHECK(graph_greedy(fixture.device, fixture.model, fixture.source, options) ==
        greedy(fixture.device, fixture.model, fixture.source, options));
  GreedyOptions never = options;
  never.never = plain[0].empty() ? Token{4} : plain[0][0];
  CHECK(graph_greedy(fixture.device, fixture.model, source, never) == greedy(fixture.device, fixture.model, source, never));
}

TEST_CASE("graph greedy: handles empty input and a limit of 0") {
  Fixture<Transformer<D, shape>> fixture;
  CHECK(graph_greedy(fixture.device, fixture.model, Sentences{}, {.begin = 2, .end = 3}).empty());
  const auto none = graph_greedy(fixture.device, fixture.model, fixture.source, {.begin = 2, .end = 3, .limit = 0});
  for (const auto& translation : none) CHECK(translation.empty());
}

TEST_CASE("graph greedy: rejects repeated rows") {
  Fixture<Transformer<D, shape>> fixture;
  Tape<D> tape(fixture.device);
  auto state = fixture.model.start(tape, upload(tape, fixture.source), 5, 2);
  state.select(std::vector<Index>{0, 0});
  CHECK(contains(error_of([&] { state.begin_graph(tape, {2, 2}); }), "a CUDA graph does not support repeated rows"));
}

TEST_CASE("graph greedy: a replayed step uploads nothing from the second time on") {
  Fixture<Transformer<D, shape>> fixture;
  StepGraph<D> graph(fixture.device);
  const Token word = 5;
  Token copy = 0;
  const auto step = [&] { fixture.device.upload(&copy, &word, 1); };
  graph.run(step);
  CHECK(copy == word);
  CHECK(contains(error_of([&] { graph.run(step); }), "upload inside a recorded step would repeat the same data"));
  CHECK_FALSE(fixture.device.repeats_step);
}
