// Several models as one, and log-probabilities of given translations.

#include "attn/decode/ensemble.hpp"

#include "attn/decode/forced.hpp"
#include "attn/decode/next_token.hpp"
#include "support/search_models.hpp"

using namespace attn_test;

TEST_CASE("forced decoding: matches the batch loss and the next-token probability and rejects unknown tokens") {
  Fixture<Transformer<D, shape>> fixture;
  const Sentences target = random_sentences({3, 0, 5, 1, 2, 4}, kTargetWords, 8);
  const auto forced = forced_log_probabilities(fixture.device, fixture.model, special_tokens, fixture.source, target);
  double sum = 0;
  for (const auto& pair : forced)
    for (const double p : pair) sum += p;
  Tape<D> tape(fixture.device);
  const double nll = fixture.model.loss(tape, Batch::of(fixture.source, target, special_tokens)).read().nll;
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

TEST_CASE("ensemble: a model twice equals the model and different models average their probabilities") {
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
  const auto alone = beam_search(a.device, a.model, a.source, three);
  for (int count : {1, 2}) {
    const auto found = [&] {
      if (count == 1) {
        EnsembleSteps steps = ensemble(a);
        return beam_search(steps, three);
      }
      EnsembleSteps steps = ensemble(a, a);
      return beam_search(steps, three);
    }();
    for (std::size_t i = 0; i < alone.size(); ++i) check_close(found[i], alone[i]);
  }
  EnsembleSteps both = ensemble(a, b);
  const auto mixed = beam_search(both, three);
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

TEST_CASE("ensemble: rejects empty ensembles and mismatched sources or vocabularies") {
  CHECK(complaint([] { EnsembleSteps({}); }).find("no models. Pass at least one.") != std::string::npos);
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
      beam_search(steps, three);
    });
  };
  CHECK(said(one).find("model 2 has another vocabulary") != std::string::npos);
  CHECK(said(sentences({{4}, {5}})).find("one model has 1 sentences, another 2") != std::string::npos);
}
