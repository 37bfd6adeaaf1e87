#include "attn/decode/decoder_model.hpp"

#include "attn/decode/search.hpp"
#include "attn/models/language_model.hpp"
#include "attn/models/marian.hpp"
#include "attn/models/text_encoder.hpp"
#include "support/errors.hpp"
#include "support/search_models.hpp"

using namespace attn_test;

namespace {

template <class... Models>
constexpr bool all_decode = (DecoderModel<Models> && ...);

static_assert(
    all_decode<Transformer<D>, Transformer<D, shape, Linformer<3, 8>>, Marian<D>, LanguageModel<D>, Gpt2<D>, Llama<D>,
               Seq2Seq<D, recurrent, OneWay>, Seq2Seq<D, recurrent, BothWays, OnEncoder<DotProduct>, Lexical>,
               InputFeeding<D, recurrent>, InputFeeding<D, recurrent, OneWay, NoAttention>>);
static_assert(!DecoderModel<TextEncoder<D>> && !DecoderModel<int>);
static_assert(SupportsGraphBeam<Transformer<D>> && SupportsGraphBeam<Llama<D>> &&
              !SupportsGraphBeam<InputFeeding<D, recurrent>>);
static_assert(HasFirstTokens<Llama<D>::State> && !HasFirstTokens<Transformer<D>::State>);
static_assert(HasHidden<Transformer<D>> && !HasHidden<Llama<D>> && HasTextHidden<Llama<D>>);
static_assert(longest_translation<InputFeeding<D, recurrent>>() == std::numeric_limits<Index>::max() &&
              longest_translation<Transformer<D, shape, Full<>, PreNorm, Gelu, Learned<7>>>() == 7);

/// A model with its own logits: those of the Transformer, negated.
struct Negated : Transformer<D, shape> {
  using Transformer::Transformer;

  Matrix<double> next(Tape<D>& tape, State& state, const std::vector<Token>& words) const {
    const auto logits = state.choices.logits(output, read(tape, state, words));
    for (Index i = 0; i < logits.rows * logits.cols; ++i) logits.data[i] = -logits.data[i];
    return logits;
  }
};

/// A model whose logits ignore the list of allowed tokens.
struct AllTokens : Transformer<D, shape> {
  using Transformer::Transformer;

  Matrix<double> next(Tape<D>& tape, State& state, const std::vector<Token>& words) const {
    return output.logits(read(tape, state, words)).value;
  }
};

}  // namespace

TEST_CASE("decoder model: a next() that ignores allowed_tokens is an error") {
  Fixture<AllTokens> fixture;
  const GreedyOptions options{.begin = 2, .end = 3, .limit = 8, .allowed_tokens = {3, 4, 5}};
  CHECK(contains(error_of([&] { greedy(fixture.device, fixture.model, fixture.source, options); }),
                 "but allowed_tokens has 3 tokens"));
  const SearchOptions beam{.begin = 2, .end = 3, .limit = 8, .beam = 3, .allowed_tokens = {3, 4, 5}};
  CHECK(contains(error_of([&] { beam_search(fixture.device, fixture.model, fixture.source, beam); }),
                 "but allowed_tokens has 3 tokens"));
}

TEST_CASE("decoder model: a model with next() decodes with its own logits") {
  Fixture<Negated> fixture;
  auto& own = fixture.model.output;
  const GreedyOptions options{.begin = 2, .end = 3, .limit = 8};
  const auto search = [&](const auto& model) {
    return beam_search(fixture.device, model, fixture.source, {.begin = 2, .end = 3, .limit = 8, .beam = 3});
  };
  const auto found = greedy(fixture.device, fixture.model, fixture.source, options);
  const auto hypotheses = search(fixture.model);
  const Transformer<D, shape>& plain = fixture.model;
  CHECK(found != greedy(fixture.device, plain, fixture.source, options));
  for (auto* parameter : {&own.weight, &own.bias})  // the plain model with a negated output layer
    for (Index i = 0; i < parameter->size(); ++i) parameter->value[i] = -parameter->value[i];
  CHECK(found == greedy(fixture.device, plain, fixture.source, options));
  CHECK(hypotheses == search(plain));
}
