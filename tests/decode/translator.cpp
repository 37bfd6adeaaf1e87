#include "attn/decode/translator.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>

#include "attn/core/network.hpp"
#include "attn/cpu.hpp"
#include "attn/models/transformer.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "support/errors.hpp"

using namespace attn;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 16};
using Host = Cpu<double>;
using Plain = Transformer<Host, shape>;
using Few = Transformer<Host, shape, Full<>, PostNorm, Relu, Learned<6>>;

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
const TransformerOptions sizes{.source_vocabulary = 8, .target_vocabulary = 8};

/// A model that never ends by itself: the end's logit is far below the others.
template <class Model>
struct Endless : Network<Model> {
  explicit Endless(Host& device) : Network<Model>(device, sizes, 1) {
    const auto& bias = this->parameters.find("output.bias");
    std::vector<double> numbers = this->parameters.read(bias);
    numbers[3] = -1e6;
    this->parameters.write(bias, numbers);
  }
};

template <class Source, class Target>
constexpr bool takes =
    std::is_constructible_v<Translator<Host, Plain, WordVocabulary>, Host&, const Plain&, Source, Target>;

}  // namespace

TEST_CASE("translator: keeps no reference to a destroyed tokenizer") {
  using Kept = const WordVocabulary&;
  using Gone = WordVocabulary;
  CHECK(takes<Kept, Kept>);
  CHECK(!takes<Gone, Kept>);
  CHECK(!takes<Kept, Gone>);
  CHECK(!takes<Gone, Gone>);
}

TEST_CASE("translator: a translation has at most as many tokens as the model has positions") {
  Host device(1);
  const Endless<Few> network(device);
  for (const bool beam : {false, true}) {
    TranslatorOptions options;
    if (beam) options.search = SearchOptions{.beam = 2};
    const auto found = Translator(device, *network, words, words, options).translate({"a b", "", "d"});
    REQUIRE(found.size() == 3);
    CHECK(found[0].target.size() == 6);
    CHECK(!found[0].complete());
    CHECK(found[1].complete());
  }
  CHECK(contains(error_of([&] { Translator(device, *network, words, words)({"a a a a a a a"}); }),
                 "exceeds the 6 learned positions. Truncate sentences and limit translations"));
}

TEST_CASE("translator: respects the allowed tokens of a search or a shortlist") {
  Host device(1);
  const Endless<Plain> network(device);
  const std::vector<Token> allowed{3, 5, 7};
  TranslatorOptions options{.limit = 4, .search = SearchOptions{.beam = 2, .allowed_tokens = allowed}};
  const auto found = Translator(device, *network, words, words, options).translate({"a b"});
  REQUIRE(found[0].target.size() == 4);
  for (const Token token : found[0].target) CHECK((token == 5 || token == 7));
  options.shortlist = [](std::span<const Token>) { return std::vector<Token>{4}; };
  CHECK(contains(error_of([&] { Translator(device, *network, words, words, options)({"a"}); }),
                 "shortlist conflicts with SearchOptions::allowed_tokens"));
}

TEST_CASE("translator: too large limits and tokenizers are errors") {
  Host device(1);
  const Endless<Plain> network(device);
  const TranslatorOptions endless_limit{.limit = std::numeric_limits<Index>::max()};
  CHECK(contains(error_of([&] { Translator(device, *network, words, words, endless_limit)({"a"}); }),
                 "tokens of 1 hypotheses are too many. Lower the limit"));
  const WordVocabulary more({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d", "e"});
  CHECK(contains(error_of([&] { Translator(device, *network, words, more); }),
                 "the target tokenizer has 9 tokens, but the model's output 8"));
  CHECK(contains(error_of([&] { Network<Plain>(device, {}, 1); }), "a vocabulary of 0 tokens. Set the vocabulary size"));
}
