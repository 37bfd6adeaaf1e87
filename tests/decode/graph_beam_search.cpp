#include "attn/decode/graph_beam_search.hpp"

#include <set>

#include "attn/language_model.hpp"
#include "support/errors.hpp"
#include "support/search_models.hpp"

using namespace attn_test;

namespace {

using PostNormed = Transformer<D, shape>;
using PreNormed = Transformer<D, shape, Full<>, PreNorm>;
using OnMixtures = Transformer<D, shape, Linformer<3, 16>>;
using Writer = LanguageModel<D, shape, PreNorm, Gelu, Learned<40>>;

std::size_t lengths_of(const std::vector<std::vector<Hypothesis>>& found) {
  std::set<std::size_t> lengths;
  for (const auto& list : found)
    for (const auto& hypothesis : list) lengths.insert(hypothesis.tokens.size());
  return lengths.size();
}

/// A model of few words, so that ends are frequent. It is only used: its products give a row the same bits whatever stands
/// beside it.
template <class M>
struct Few {
  static constexpr Index kWords = 7;
  D device{1};
  M model{options()};
  Parameters<D> parameters{device, model, Inference{}};

  Token end = 0;  // that ends its sentences at the most different places

  explicit Few(std::uint64_t seed) {
    shake(parameters, 0.7, seed);
    std::size_t most = 0;
    for (Token token = 0; token < kWords; ++token) {
      const auto found = beam_search(device, model, sources(9, seed), {.begin = 2, .end = token, .limit = 20, .beam = 2});
      if (lengths_of(found) > most) most = lengths_of(found), end = token;
    }
  }

  static typename M::Options options() {
    if constexpr (requires { M::Options::source_vocabulary; })
      return {.source_vocabulary = kSourceWords, .target_vocabulary = kWords};
    else
      return {.vocabulary = kWords};
  }
  /// Sentences of very different lengths; a language model's begin with a word at least.
  static Sentences sources(Index count, std::uint64_t seed) {
    constexpr bool writes = std::is_same_v<M, Writer>;
    std::vector<Index> lengths;
    for (Index i = 0; i < count; ++i) lengths.push_back((writes ? 1 : 0) + i * 5 % 11);
    return random_sentences(lengths, writes ? kWords : kSourceWords, seed);
  }
};

bool same(const std::vector<SearchTree>& a, const std::vector<SearchTree>& b) {
  const auto node = [](const SearchTree::Node& x, const SearchTree::Node& y) {
    return x.parent == y.parent && x.token == y.token && x.log_probability == y.log_probability && x.fate == y.fate &&
           x.best == y.best;
  };
  return std::ranges::equal(a, b, [&](const auto& x, const auto& y) { return std::ranges::equal(x.nodes, y.nodes, node); });
}

/// Both searches give the same hypotheses, numbers and trees; how many different lengths there are.
template <class M>
std::size_t check_same(Few<M>& of, const Sentences& source, const SearchOptions& options, Index look_every = 8) {
  std::vector<SearchTree> trees, held_trees;
  const auto found = beam_search(of.device, of.model, source, options, &trees);
  const auto held = graph_beam_search(of.device, of.model, source, options, &held_trees, look_every);
  CHECK(held == found);
  CHECK(same(held_trees, trees));
  return lengths_of(found);
}

}  // namespace

TEST_CASE_TEMPLATE("graph beam search: finds the same hypotheses as beam search bit for bit", M, PostNormed, PreNormed,
                   OnMixtures, Writer) {
  std::size_t most = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Few<M> few(seed);
    const Sentences source = Few<M>::sources(14, seed);
    for (const SearchOptions& size : std::vector<SearchOptions>{{.limit = 20, .beam = 1},
                                                                {.limit = 20, .beam = 2},
                                                                {.limit = 20, .beam = 3},
                                                                {.limit = 20, .beam = 4},
                                                                {.limit = 20, .beam = 5},
                                                                {.limit = 20, .beam = 16},
                                                                {.limit = 1, .beam = 1},
                                                                {.limit = 1, .beam = 4},
                                                                {.limit = 2, .beam = 3},
                                                                {.limit = 2, .beam = 16}}) {
      INFO("seed ", seed, ", beam ", size.beam, ", limit ", size.limit);
      SearchOptions options = size;
      options.begin = 2, options.end = few.end, options.n_best = std::min<Index>(size.beam, 3);
      most = std::max(most, check_same(few, source, options));
    }
  }
  CHECK(most > 5);  // else rows were never held anew
}

TEST_CASE_TEMPLATE("graph beam search: results do not depend on the polling interval or the stopping rule", M, PostNormed,
                   Writer) {
  Few<M> few(2);
  const Sentences source = Few<M>::sources(30, 4);
  SearchOptions options{.begin = 2, .end = few.end, .limit = 17, .beam = 4, .n_best = 4};
  for (const Index look_every : {1, 3, 8, 100}) {
    CAPTURE(look_every);
    CHECK(check_same(few, source, options, look_every) > 3);
  }
  for (const Stop stop : {Stop::no_better, Stop::no_better_now}) {
    options.stop = stop;
    check_same(few, source, options);
  }
  options.complete = 9, options.score = {ScoreKind::gnmt, 0.6};
  check_same(few, source, options);
  options.never = {4, 6, -1};
  check_same(few, source, options);
  options.never = {0, 1, 2, 3, 4, 5, 6};
  std::erase(options.never, few.end);  // the end, and nothing else: no hypothesis lives on
  check_same(few, source, options);
  options.never = {0, 1, 2, 3, 4, 5, 6};
  check_same(few, source, options);
  options.never = {}, options.end = -1;
  check_same(few, source, options);
}

TEST_CASE("graph beam search: handles no sentences and single or empty ones and a limit of 0") {
  Few<PostNormed> few(3);
  const SearchOptions options{.begin = 2, .end = few.end, .limit = 12, .beam = 3, .n_best = 2};
  check_same(few, Sentences{}, options);
  check_same(few, random_sentences({4}, kSourceWords, 1), options);
  check_same(few, random_sentences({0}, kSourceWords, 1), options);
  SearchOptions none = options;
  none.limit = 0;
  check_same(few, Few<PostNormed>::sources(3, 1), none);
}

TEST_CASE("graph beam search: rejects wide beams and token constraints") {
  Few<PostNormed> few(3);
  const Sentences source = Few<PostNormed>::sources(1, 1);
  const SearchOptions plain{.begin = 2, .end = few.end, .limit = 5, .beam = 3};
  CHECK(fits_beam_graph(plain));
  const auto refused = [&](auto&& change) {
    SearchOptions options = plain;
    change(options);
    return contains(error_of([&] { graph_beam_search(few.device, few.model, source, options); }),
                    "supports beams up to 16 and no token constraints. Call beam_search.");
  };
  CHECK(refused([](auto& options) { options.beam = 17; }));
  CHECK(refused([](auto& options) { options.min_length = 1; }));
  CHECK(refused([](auto& options) { options.no_repeat = 2; }));
  CHECK(refused([](auto& options) { options.prefixes = {{4}}; }));
  CHECK(refused([](auto& options) { options.allowed_tokens = {options.end}; }));
  CHECK(refused([](auto& options) { options.sampling.emplace(); }));
  static_assert(!SupportsGraphBeam<Seq2Seq<D, recurrent, BothWays, OnEncoder<Additive<4>>>>);
  CHECK(few.model.supports_graph_beam());
  const Transformer<D> wide(
      {.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords, .shape = {1, 1, 258, 2, 8}});
  CHECK_FALSE(wide.supports_graph_beam());
  CHECK(contains(error_of([&] { graph_beam_search(few.device, wide, source, plain); }), "heads are too wide"));
}

TEST_CASE("graph beam search: a graph restarts only with the same rows once each") {
  Few<PostNormed> few(3);
  Tape<D> tape(few.device);
  auto state = few.model.start(tape, upload(tape, Few<PostNormed>::sources(2, 1)), 5, 2);
  state.select(std::vector<Index>{0, 0, 1, 1});
  state.begin_beam_graph(tape, {2, 2, 2, 2});
  state.end_beam_graph(few.device, 0);
  const auto refused = [](auto&& call) {
    return contains(error_of(call), "pass the same rows to begin_beam_graph, each once");
  };
  CHECK(refused([&] { state.begin_graph(tape, {2, 2, 2, 2}); }));
  CHECK(refused([&] { next_logits(tape, few.model, state, {2, 2, 2, 2}); }));
  state.select(std::vector<Index>{2, 3});
  CHECK(error_of([&] { state.begin_beam_graph(tape, {2, 2}); }) == "");
  state.end_beam_graph(few.device, 0);
  state.select(std::vector<Index>{0, 0});
  CHECK(refused([&] { state.begin_beam_graph(tape, {2, 2}); }));
}
