// Beam search over every kind of model: what their steps, their selected rows and their caches come to.

#include <set>
#include <type_traits>

#include "attn/decode/forced.hpp"
#include "attn/language_model.hpp"
#include "support/search_models.hpp"

using namespace attn_test;

namespace {

/// Every step of every row from its first word on, by the pass that training takes.
template <class Model>
class StepsFromScratch final : public DecodingSteps {
 public:
  StepsFromScratch(D& device, const Model& model, const Sentences& source)
      : device_(device), model_(model), source_(source), written_(static_cast<std::size_t>(source.size())) {
    for (Index i = 0; i < source.size(); ++i) alive_.push_back(i);
  }
  const std::vector<Index>& active() const override { return alive_; }
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
      const auto logits = model_.output.logits(model_.hidden(tape, upload(tape, from), upload(tape, to))).value;
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

void with_every_model(auto&& test) {
  const auto with = [&]<class... Models>(std::type_identity<Models>...) { (test.template operator()<Models>(), ...); };
  with(std::type_identity<Transformer<D, shape>>{}, std::type_identity<Transformer<D, shape, Linformer<3, 8>, PreNorm>>{},
       std::type_identity<Seq2Seq<D, recurrent, OneWay>>{},
       std::type_identity<Seq2Seq<D, recurrent, BothWays, OnEncoderAndPast<ReducedRank<2>, KeyValue<4, 3>>>>{},
       std::type_identity<InputFeeding<D, recurrent, BothWays, Additive<4>, SharedKeyValue, Lexical>>{});
}

}  // namespace

TEST_CASE("search: cached search equals search from scratch for every model") {
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
      const auto cached = beam_search(fixture.device, fixture.model, fixture.source, options);
      StepsFromScratch<M> steps(fixture.device, fixture.model, fixture.source);
      const auto scratch = beam_search(steps, options);
      REQUIRE(cached.size() == 6);
      for (std::size_t i = 0; i < 6; ++i) {
        check_close(cached[i], scratch[i]);
        for (const Hypothesis& one : cached[i]) lengths.insert(one.tokens.size());
      }
    }
  });
  CHECK(lengths.size() >= 4);  // else the models are too dull to test with
}

TEST_CASE("search: a beam of 1 equals greedy search for every model with any end token") {
  with_every_model([&]<class M>() {
    Fixture<M> fixture;
    for (Token end = 0; end < kTargetWords; ++end)
      for (const Token never : {Token{-1}, Token{end == 4 ? 5 : 4}}) {
        const auto expected =
            greedy(fixture.device, fixture.model, fixture.source, {.begin = 2, .end = end, .limit = 7, .never = never});
        SearchOptions options{.begin = 2, .end = end, .limit = 7, .beam = 1};
        if (never >= 0) options.never = {never};
        const auto found = beam_search(fixture.device, fixture.model, fixture.source, options);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          CHECK(found[i][0].tokens == expected[i]);
          CHECK(found[i][0].complete == (expected[i].size() < 7));
        }
      }
  });
}

TEST_CASE("search: the log-probability of a hypothesis equals that of forced decoding") {
  with_every_model([&]<class M>() {
    Fixture<M> fixture;
    for (const auto& found : {beam_search(fixture.device, fixture.model, fixture.source, three)}) {
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

TEST_CASE("search: the hypotheses of a sentence do not depend on the batch or its order") {
  with_every_model([&]<class M>() {
    Fixture<M> fixture;
    const auto together = beam_search(fixture.device, fixture.model, fixture.source, three);
    Sentences backward;
    for (Index i = 5; i >= 0; --i) backward.push_back(fixture.source[i]);
    const auto turned = beam_search(fixture.device, fixture.model, backward, three);
    for (Index i = 0; i < 6; ++i) {
      Sentences alone;
      alone.push_back(fixture.source[i]);
      check_close(beam_search(fixture.device, fixture.model, alone, three)[0], together[static_cast<std::size_t>(i)]);
      check_close(turned[static_cast<std::size_t>(5 - i)], together[static_cast<std::size_t>(i)]);
    }
  });
}

TEST_CASE("search: float results do not depend on the number of threads and memory is freed") {
  using Model = Transformer<Cpu<float>, shape>;
  std::vector<std::vector<Hypothesis>> first;
  for (const int threads : {1, 2, 3}) {
    Cpu<float> device(threads);
    Model model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
    Parameters<Cpu<float>> parameters(device, model, 3);
    shake(parameters, 0.8, 5);
    const Sentences source = random_sentences({5, 0, 3, 8, 2, 4}, kSourceWords, 3);
    const auto found = beam_search(device, model, source, three);
    if (first.empty()) first = found;
    CHECK(found == first);
    beam_search(device, model, source, three);
    const auto capacity = device.activations.capacity();
    for (int i = 0; i < 5; ++i) CHECK(beam_search(device, model, source, three) == first);
    CHECK(device.activations.capacity() == capacity);
  }
}

TEST_CASE("search: a language model continues its prompts") {
  constexpr TransformerShape small{.encoder_layers = 0, .decoder_layers = 2, .width = 16, .heads = 2, .inner = 24};
  using Model = LanguageModel<D, small>;
  D device(1);
  Model model({.vocabulary = kTargetWords});
  Parameters<D> parameters(device, model, 3);
  shake(parameters, 0.8, 6);
  const Sentences prompts = random_sentences({3, 1, 5}, kTargetWords, 9);
  const SearchOptions options{.begin = 2, .end = 3, .limit = 6, .beam = 3, .n_best = 2};
  const auto found = beam_search(device, model, prompts, options);
  const auto best = greedy(device, model, prompts, {.begin = 2, .end = 3, .limit = 6});
  SearchOptions narrow = options;
  narrow.beam = narrow.n_best = 1;
  const auto one = beam_search(device, model, prompts, narrow);
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
