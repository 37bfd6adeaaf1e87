#include <numeric>

#include "attn/decode/greedy.hpp"
#include "attn/decode/search.hpp"
#include "support/errors.hpp"
#include "support/model_tools.hpp"
#include "support/tensor.hpp"

using namespace attn_test;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 2, .width = 16, .heads = 4, .inner = 32};
constexpr Index vocabulary = 23;

/// A model for inference, whose translations differ, on a device that rounds weights to int8 or does not.
struct Fixture {
  using D = Cpu<float>;
  D device;
  Network<Transformer<D, shape>> network;
  const Sentences source = sentences({{4, 5, 6, 7, 8}, {9, 3}, {10}, {4, 4, 4}, {5, 6}});

  explicit Fixture(bool int8, int threads = 1)
      : device({.threads = threads, .int8_weights = int8}),
        network(device, {.source_vocabulary = 11, .target_vocabulary = vocabulary}, Inference{}) {
    std::uint64_t seed = 1;
    for (const auto& entry : network.parameters.entries()) {
      std::vector<float> numbers;
      for (const double number : random_numbers(entry.size(), ++seed, 0.6)) numbers.push_back(static_cast<float>(number));
      network.parameters.write(entry, numbers);
    }
  }

  auto translate(std::vector<Token> allowed = {}, Token never = -1) {
    return greedy(device, *network, source,
                  {.begin = 2, .end = 3, .limit = 9, .never = never, .allowed_tokens = std::move(allowed)});
  }
  auto find(std::vector<Token> allowed = {}, Index beam = 3) {
    return beam_search(device, *network, source,
                       {.begin = 2, .end = 3, .limit = 9, .beam = beam, .allowed_tokens = std::move(allowed)});
  }
};

std::vector<Token> all_words() {
  std::vector<Token> words(vocabulary);
  std::iota(words.begin(), words.end(), 0);
  return words;
}

}  // namespace

TEST_CASE("shortlist: a full shortlist changes no bit of translations or probabilities") {
  for (const bool int8 : {false, true}) {
    Fixture fixture(int8);
    CHECK(fixture.translate(all_words()) == fixture.translate());
    CHECK(fixture.translate(all_words(), 7) == fixture.translate({}, 7));
    const auto with = fixture.find(all_words()), without = fixture.find();
    for (std::size_t i = 0; i < with.size(); ++i) {
      CHECK(with[i][0].tokens == without[i][0].tokens);
      CHECK(with[i][0].log_probability == without[i][0].log_probability);
    }
  }
}

TEST_CASE("shortlist: restricts tokens and normalizes probabilities over the shortlist") {
  Fixture fixture(false);
  const std::vector<Token> allowed{3, 5, 8, 13, 22};
  for (const auto& words : fixture.translate(allowed))
    for (const Token word : words) CHECK(std::ranges::binary_search(allowed, word));
  for (const auto& best : fixture.find(allowed))
    for (const Token word : best[0].tokens) CHECK(std::ranges::binary_search(allowed, word));
  CHECK(fixture.find(allowed, 1)[0][0].tokens == fixture.translate(allowed)[0]);

  // One step: the logits are those of the whole vocabulary, in their columns.
  ModelSteps<Cpu<float>, Transformer<Cpu<float>, shape>> whole(fixture.device, *fixture.network, fixture.source, 9, 1);
  std::vector<double> all, some;
  whole.log_probabilities(whole.first_tokens(2), all);
  ModelSteps<Cpu<float>, Transformer<Cpu<float>, shape>> steps(fixture.device, *fixture.network, fixture.source, 9, 1,
                                                               allowed);
  steps.log_probabilities(steps.first_tokens(2), some);
  REQUIRE(some.size() == all.size());
  for (std::size_t row = 0; row < 5; ++row) {
    double total = 0;
    for (const Token word : allowed) total += std::exp(all[row * vocabulary + static_cast<std::size_t>(word)]);
    for (Token word = 0; word < vocabulary; ++word) {
      const auto at = row * vocabulary + static_cast<std::size_t>(word);
      if (std::ranges::binary_search(allowed, word))
        CHECK(some[at] == doctest::Approx(all[at] - std::log(total)).epsilon(1e-4));
      else
        CHECK(some[at] == -HUGE_VAL);
    }
  }
}

TEST_CASE("shortlist: must contain forced tokens and the end token and be sorted") {
  Fixture fixture(false);
  const auto refused = [&](std::vector<Token> allowed) { return error_of([&] { fixture.translate(std::move(allowed)); }); };
  CHECK(contains(refused({3, 3}), "rising ids from 0 to 22"));
  CHECK(contains(refused({5, 3}), "rising ids from 0 to 22"));
  CHECK(contains(refused({3, 23}), "rising ids from 0 to 22"));
  CHECK(contains(refused({-1, 3}), "rising ids from 0 to 22"));
  CHECK(contains(error_of([&] { fixture.find({4, 5}); }), "the end token 3 is not in allowed_tokens"));
  const std::vector<std::vector<Token>> prefixes(5, {9});
  const SearchOptions forced{.begin = 2, .end = 3, .limit = 9, .beam = 2, .allowed_tokens = {3, 4}, .prefixes = prefixes};
  CHECK(contains(error_of([&] { beam_search(fixture.device, *fixture.network, fixture.source, forced); }),
                 "forced token 9 is not in allowed_tokens"));
}

TEST_CASE("int8: a translation does not depend on the batch or its order or the number of threads") {
  Fixture fixture(true), two(true, 2);
  const auto together = fixture.translate();
  CHECK(two.translate() == together);
  for (Index i = 0; i < fixture.source.size(); ++i) {
    Sentences alone;
    alone.push_back(fixture.source[i]);
    CHECK(greedy(fixture.device, *fixture.network, alone, {.begin = 2, .end = 3, .limit = 9})[0] ==
          together[static_cast<std::size_t>(i)]);
  }
}
