// Beam search over every kind of model: what their steps, their selected rows and their caches come to.

#include <set>
#include <type_traits>

#include "attn/decode/ensemble.hpp"
#include "attn/decode/forced.hpp"
#include "attn/decode/next_token.hpp"
#include "attn/decode/search.hpp"
#include "attn/language_model.hpp"
#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 2, .width = 16, .heads = 2, .inner = 24};
constexpr RecurrentShape recurrent{.words = 6, .width = 6, .encoder_layers = 1, .decoder_layers = 1};

/// Every step of every row from its first word on, by the pass that training takes.
template <class Model>
class StepsFromScratch final : public DecodingSteps {
 public:
  StepsFromScratch(D& device, const Model& model, const Sentences& source)
      : device_(device), model_(model), source_(source), written_(static_cast<std::size_t>(source.size())) {
    for (Index i = 0; i < source.size(); ++i) alive_.push_back(i);
  }
  const std::vector<Index>& alive() const override { return alive_; }
  void select(std::span<const Index> rows) override {
    const auto alive = alive_;
    const auto written = written_;
    alive_.clear(), written_.clear();
    for (const Index row : rows) {
      alive_.push_back(alive[static_cast<std::size_t>(row)]);
      written_.push_back(written[static_cast<std::size_t>(row)]);
    }
  }
  void best(const std::vector<Token>& words, const ChoiceRules& rules, Choices& choices) override {
    std::vector<double> all;
    log_probabilities(words, all);
    choose(all, static_cast<Index>(words.size()), rules, choices);
  }
  void log_probabilities(const std::vector<Token>& words, std::vector<double>& all) override {
    all.clear();
    for (std::size_t i = 0; i < words.size(); ++i) {
      written_[i].push_back(words[i]);
      Sentences from, to;
      from.push_back(source_[alive_[i]]);
      to.push_back(written_[i]);
      Tape<D> tape(device_);
      const auto logits = model_.output.logits(tape, model_.hidden(tape, upload(tape, from), upload(tape, to)));
      std::vector<double> last(logits.row(logits.rows - 1), logits.row(logits.rows - 1) + logits.cols);
      log_softmax(last);
      all.insert(all.end(), last.begin(), last.end());
    }
  }

 private:
  D& device_;
  const Model& model_;
  const Sentences& source_;
  std::vector<Index> alive_;
  std::vector<std::vector<Token>> written_;
};

template <class M>
struct Fixture {
  D device{1};
  M model{{.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords}};
  Parameters<D> parameters{device, model, 3};
  Sentences source = random_sentences({5, 1, 3, 8, 2, 4}, kSourceWords, 3);

  explicit Fixture(std::uint64_t seed = 5) { shake(parameters, 0.8, seed); }
};

void with_every_model(auto&& test) {
  const auto with = [&]<class... Models>(std::type_identity<Models>...) { (test.template operator()<Models>(), ...); };
  with(std::type_identity<Transformer<D, shape>>{}, std::type_identity<Transformer<D, shape, Linformer<3, 8>, PreNorm>>{},
       std::type_identity<Seq2Seq<D, recurrent, OneWay>>{},
       std::type_identity<Seq2Seq<D, recurrent, BothWays, OnEncoderAndPast<ReducedRank<2>, KeyValue<4, 3>>>>{},
       std::type_identity<InputFeeding<D, recurrent, BothWays, Additive<4>, States, Lexical>>{});
}

const SearchOptions three{.begin = 2, .end = 3, .limit = 7, .beam = 3, .n_best = 3};

void check_close(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].tokens == b[i].tokens);
    CHECK(a[i].complete == b[i].complete);
    CHECK(std::abs(a[i].log_probability - b[i].log_probability) < 1e-11);
    CHECK(std::abs(a[i].score - b[i].score) < 1e-11);
    CHECK(largest_difference(a[i].token_log_probabilities, b[i].token_log_probabilities) < 1e-11);
  }
}

}  // namespace

TEST_CASE("search: with caches it finds what it finds from scratch, for every model") {
  std::set<std::size_t> lengths;
  with_every_model([&]<class M>() {
    Fixture<M> fixture;
    for (SearchOptions options : {three, SearchOptions{.begin = 2,
                                         .end = 5,
                                         .limit = 6,
                                         .beam = 4,
                                         .min_length = 2,
                                         .never = {4, 6},
                                         .no_repeat = 2,
                                         .prefixes = {{7}, {}, {8, 9}, {}, {4}, {10, 10, 10}}}}) {
      const auto cached = search(fixture.device, fixture.model, fixture.source, options);
      StepsFromScratch<M> steps(fixture.device, fixture.model, fixture.source);
      const auto scratch = search(steps, options);
      REQUIRE(cached.size() == 6);
      for (std::size_t i = 0; i < 6; ++i) {
        check_close(cached[i], scratch[i]);
        for (const Hypothesis& one : cached[i]) lengths.insert(one.tokens.size());
      }
    }
  });
  CHECK(lengths.size() >= 4);  // else the models are too dull to test with
}

TEST_CASE("search: a beam of 1 is greedy decoding, for every model, whatever ends a sentence and is never written") {
  with_every_model([&]<class M>() {
    Fixture<M> fixture;
    for (Token end = 0; end < kTargetWords; ++end)
      for (const Token never : {Token{-1}, Token{end == 4 ? 5 : 4}}) {
        const auto expected =
            greedy(fixture.device, fixture.model, fixture.source, {.begin = 2, .end = end, .limit = 7, .never = never});
        SearchOptions options{.begin = 2, .end = end, .limit = 7, .beam = 1};
        if (never >= 0) options.never = {never};
        const auto found = search(fixture.device, fixture.model, fixture.source, options);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          CHECK(found[i][0].tokens == expected[i]);
          CHECK(found[i][0].complete == (expected[i].size() < 7));
        }
      }
  });
}

TEST_CASE("search: the log-probability of a hypothesis is that of the pass over the whole translation") {
  with_every_model([&]<class M>() {
    Fixture<M> fixture;
    for (const auto& found : {search(fixture.device, fixture.model, fixture.source, three)}) {
      Sentences source, target;
      std::vector<Hypothesis> all;
      for (std::size_t i = 0; i < found.size(); ++i)
        for (const Hypothesis& one : found[i]) {
          source.push_back(fixture.source[static_cast<Index>(i)]);
          target.push_back(one.tokens);
          all.push_back(one);
        }
      const auto forced = forced_log_probabilities(fixture.device, fixture.model, special_tokens, source, target);
      REQUIRE(forced.size() == all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        REQUIRE(forced[i].size() == all[i].tokens.size() + 1);
        double sum = 0;
        for (std::size_t j = 0; j < all[i].token_log_probabilities.size(); ++j) {
          CHECK(std::abs(forced[i][j] - all[i].token_log_probabilities[j]) < 1e-11);
          sum += forced[i][j];
        }
        CHECK(std::abs(sum - all[i].log_probability) < 1e-11);
      }
    }
  });
}

TEST_CASE("forced decoding: the loss of a batch, the next token's probability, and what is not in the vocabulary") {
  Fixture<Transformer<D, shape>> fixture;
  const Sentences target = random_sentences({3, 0, 5, 1, 2, 4}, kTargetWords, 8);
  const auto forced = forced_log_probabilities(fixture.device, fixture.model, special_tokens, fixture.source, target);
  double sum = 0;
  for (const auto& pair : forced)
    for (const double p : pair) sum += p;
  Tape<D> tape(fixture.device);
  const double nll = fixture.model.loss(tape, Batch::of(fixture.source, target, special_tokens)).read(fixture.device).nll;
  CHECK(sum == doctest::Approx(-nll).epsilon(1e-12));
  const auto p = next_token(fixture.device, fixture.model, special_tokens, fixture.source[0], target[0].first(1));
  CHECK(std::exp(forced[0][1]) == doctest::Approx(p[static_cast<std::size_t>(target[0][1])]).epsilon(1e-12));
  CHECK(forced[1].size() == 1);  // the end of an empty translation
  CHECK(forced_log_probabilities(fixture.device, fixture.model, special_tokens, {}, {}).empty());
  const std::string said = complaint([&] {
    forced_log_probabilities(fixture.device, fixture.model, special_tokens, sentences({{4}}), sentences({{13}}));
  });
  CHECK(said.find("token 13 is not in a vocabulary of 13") != std::string::npos);
}

TEST_CASE("search: a sentence's hypotheses do not depend on the batch, nor on its order") {
  with_every_model([&]<class M>() {
    Fixture<M> fixture;
    const auto together = search(fixture.device, fixture.model, fixture.source, three);
    Sentences backward;
    for (Index i = 5; i >= 0; --i) backward.push_back(fixture.source[i]);
    const auto turned = search(fixture.device, fixture.model, backward, three);
    for (Index i = 0; i < 6; ++i) {
      Sentences alone;
      alone.push_back(fixture.source[i]);
      check_close(search(fixture.device, fixture.model, alone, three)[0], together[static_cast<std::size_t>(i)]);
      check_close(turned[static_cast<std::size_t>(5 - i)], together[static_cast<std::size_t>(i)]);
    }
  });
}

TEST_CASE("search: in float the same on any number of threads; memory is given back") {
  using Model = Transformer<Cpu<float>, shape>;
  std::vector<std::vector<Hypothesis>> first;
  for (const int threads : {1, 2, 3}) {
    Cpu<float> device(threads);
    Model model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
    Parameters<Cpu<float>> parameters(device, model, 3);
    shake(parameters, 0.8, 5);
    const Sentences source = random_sentences({5, 0, 3, 8, 2, 4}, kSourceWords, 3);
    const auto found = search(device, model, source, three);
    if (first.empty()) first = found;
    CHECK(found == first);
    search(device, model, source, three);
    const auto capacity = device.activations.capacity();
    for (int i = 0; i < 5; ++i) CHECK(search(device, model, source, three) == first);
    CHECK(device.activations.capacity() == capacity);
  }
}

TEST_CASE("search: a language model goes on after its prompts") {
  constexpr TransformerShape small{.encoder_layers = 0, .decoder_layers = 2, .width = 16, .heads = 2, .inner = 24};
  using Model = LanguageModel<D, small>;
  D device(1);
  Model model({.vocabulary = kTargetWords});
  Parameters<D> parameters(device, model, 3);
  shake(parameters, 0.8, 6);
  const Sentences prompts = random_sentences({3, 1, 5}, kTargetWords, 9);
  const SearchOptions options{.begin = 2, .end = 3, .limit = 6, .beam = 3, .n_best = 2};
  const auto found = search(device, model, prompts, options);
  const auto best = greedy(device, model, prompts, {.begin = 2, .end = 3, .limit = 6});
  SearchOptions narrow = options;
  narrow.beam = narrow.n_best = 1;
  const auto one = search(device, model, prompts, narrow);
  for (Index i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    CHECK(one[at][0].tokens == best[at]);
    for (const Hypothesis& hypothesis : found[at]) {
      // begin + prompt's rest + hypothesis: the log-probabilities of the latter.
      std::vector<Token> text(prompts[i].begin() + 1, prompts[i].end());
      text.insert(text.end(), hypothesis.tokens.begin(), hypothesis.tokens.end());
      Sentences target;
      target.push_back(text);
      const auto p = forced_log_probabilities(device, model, {.begin = prompts[i][0], .end = 3}, Sentences{{}}, target)[0];
      double sum = 0;
      for (std::size_t j = 0; j < hypothesis.token_log_probabilities.size(); ++j) sum += p[prompts[i].size() - 1 + j];
      CHECK(std::abs(sum - hypothesis.log_probability) < 1e-11);
    }
  }
}

TEST_CASE("ensemble: a model twice is the model; two types are the mean of their probabilities") {
  using Attends = Transformer<D, shape>;
  using Recurs = InputFeeding<D, recurrent, BothWays, Additive<4>>;
  Fixture<Attends> a;
  Fixture<Recurs> b;
  const auto steps_of = [&]<class M>(Fixture<M>& fixture) {
    return std::make_unique<ModelSteps<D, M>>(fixture.device, fixture.model, a.source, 7, 3);
  };
  const auto ensemble = [&](auto&... fixtures) {
    std::vector<std::unique_ptr<DecodingSteps>> members;
    (members.push_back(steps_of(fixtures)), ...);
    return EnsembleSteps(std::move(members));
  };
  const auto alone = search(a.device, a.model, a.source, three);
  for (int count : {1, 2}) {
    const auto found = [&] {
      if (count == 1) {
        EnsembleSteps steps = ensemble(a);
        return search(steps, three);
      }
      EnsembleSteps steps = ensemble(a, a);
      return search(steps, three);
    }();
    for (std::size_t i = 0; i < alone.size(); ++i) check_close(found[i], alone[i]);
  }
  EnsembleSteps both = ensemble(a, b);
  const auto mixed = search(both, three);
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    const Hypothesis& one = mixed[i][0];
    const auto source = a.source[static_cast<Index>(i)];
    const std::span<const Token> tokens(one.tokens);
    for (std::size_t t = 0; t < one.token_log_probabilities.size(); ++t) {
      const auto p = next_token(a.device, a.model, special_tokens, source, tokens.first(t)),
                 q = next_token(b.device, b.model, special_tokens, source, tokens.first(t));
      const auto token = static_cast<std::size_t>(t < tokens.size() ? tokens[t] : 3);
      CHECK(std::exp(one.token_log_probabilities[t]) == doctest::Approx((p[token] + q[token]) / 2).epsilon(1e-9));
    }
  }
}

TEST_CASE("ensemble: none, other sentences and other vocabularies are refused") {
  CHECK(complaint([] { EnsembleSteps({}); }).find("there are no models") != std::string::npos);
  Fixture<Transformer<D, shape>> a;
  D device(1);
  Transformer<D, shape> other({.source_vocabulary = kSourceWords, .target_vocabulary = 9});
  Parameters<D> parameters(device, other, 1);
  const Sentences one = sentences({{4, 5}});
  const auto said = [&](const Sentences& second) {
    return complaint([&] {
      std::vector<std::unique_ptr<DecodingSteps>> members;
      members.push_back(std::make_unique<ModelSteps<D, Transformer<D, shape>>>(a.device, a.model, one, 7, 3));
      members.push_back(std::make_unique<ModelSteps<D, Transformer<D, shape>>>(device, other, second, 7, 3));
      EnsembleSteps steps(std::move(members));
      search(steps, three);
    });
  };
  CHECK(said(one).find("model 2 has another vocabulary") != std::string::npos);
  CHECK(said(sentences({{4}, {5}})).find("one model was given 1 sentences, another 2") != std::string::npos);
}
