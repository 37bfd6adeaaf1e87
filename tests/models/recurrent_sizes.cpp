#include "attn/models/recurrent_models.hpp"

#include "support/errors.hpp"
#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr RecurrentShape shape{.embedding = 5, .width = 6, .encoder_layers = 2, .decoder_layers = 2};
constexpr RecurrentShape deeper{.embedding = 5, .width = 6, .encoder_layers = 1, .decoder_layers = 3};
constexpr RecurrentShape any = dynamic_recurrent_shape;

RecurrentOptions options_of(const RecurrentShape& given, float rate = 0) {
  return {.source_vocabulary = kSourceWords,
          .target_vocabulary = kTargetWords,
          .dropout = {.embedding = rate, .states = rate, .attention = rate},
          .shape = given};
}

/// Everything about a model with these options: names and values of its parameters, a loss with dropout, its gradients,
/// and translations.
template <class Model>
auto everything(const RecurrentOptions& options) {
  D device(1);
  Network<Model> network(device, options, 3);
  shake(network.parameters);
  std::vector<std::pair<std::string, std::vector<double>>> numbers;
  for (const auto& entry : network.parameters.entries()) numbers.emplace_back(entry.name, network.parameters.read(entry));
  Tape<D> tape(device, TapeMode::training(1, 2));
  auto loss = network->loss(tape, ragged_batch(), {.amount = 0.1});
  loss.backward();
  numbers.emplace_back("loss", std::vector{loss.value()});
  for (const auto& entry : network.parameters.entries())
    numbers.emplace_back(entry.name, network.parameters.read_gradient(entry));
  const auto texts = greedy(network, random_sentences({5, 2, 0, 1, 8}, kSourceWords, 3),
                            {.begin = special_tokens.begin, .end = special_tokens.end, .limit = 6});
  return std::pair(numbers, texts);
}

template <class Static, class Dynamic>
void check_same(const RecurrentShape& given) {
  const auto [expected, expected_texts] = everything<Static>(options_of(given, 0.2f));
  const auto [numbers, texts] = everything<Dynamic>(options_of(given, 0.2f));
  REQUIRE(numbers.size() == expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CAPTURE(expected[i].first);
    CHECK(numbers[i].first == expected[i].first);
    CHECK(numbers[i].second == expected[i].second);
  }
  CHECK(texts == expected_texts);
}

}  // namespace

TEST_CASE("recurrent sizes: seq2seq models with sizes at run time have the bits of those with sizes in their types") {
  check_same<ComparisonModel<D, NoAttention, shape>, ComparisonModel<D, NoAttention, any>>(shape);
  check_same<ComparisonModel<D, OnEncoder<Additive<6>>, shape>, ComparisonModel<D, OnEncoder<Additive<>>, any>>(shape);
  check_same<Seq2Seq<D, shape, OneWay, OnSelfAttention<2, Multiplicative>>,
             Seq2Seq<D, any, OneWay, OnSelfAttention<2, Multiplicative>>>(shape);
  check_same<Seq2Seq<D, shape, BothWays, OnEncoderAndPast<ScaledDot, KeyValue<4, 3>>, Lexical>,
             Seq2Seq<D, any, BothWays, OnEncoderAndPast<ScaledDot, KeyValue<4, 3>>, Lexical>>(shape);
  check_same<Seq2Seq<D, shape, BothWays, OnEncoder<ReducedRank<2>>>, Seq2Seq<D, any, BothWays, OnEncoder<ReducedRank<2>>>>(
      shape);
}

TEST_CASE("recurrent sizes: input feeding with sizes at run time has the bits of that with sizes in its type") {
  check_same<CourseworkModel<D, deeper>, CourseworkModel<D, any>>(deeper);
  check_same<PlainCourseworkModel<D, shape>, PlainCourseworkModel<D, any>>(shape);
  check_same<LexicalCourseworkModel<D, deeper>, LexicalCourseworkModel<D, any>>(deeper);
  check_same<InputFeeding<D, shape, BothWaysProjected, Additive<4>, KeyValue<4, 3>>,
             InputFeeding<D, any, BothWaysProjected, Additive<4>, KeyValue<4, 3>>>(shape);
  const RecurrentShape deep{.embedding = 3, .width = 2, .encoder_layers = 1, .decoder_layers = 9};  // too deep for one op
  CHECK(everything<CourseworkModel<D, any>>(options_of(deep)).first.size() == 2 * 39 + 1);
}

TEST_CASE("recurrent sizes: a batch without sentences has hidden states of the right width") {
  D device(1);
  const auto width = [&](const auto& type, const RecurrentShape& given) {
    using Model = typename std::decay_t<decltype(type)>::type;
    Network<Model> network(device, options_of(given), 1);
    Tape<D> tape(device);
    const auto hidden = network->hidden(tape, upload(tape, Sentences{}), upload(tape, Sentences{}));
    CHECK(hidden.rows() == 0);
    return hidden.cols();
  };
  CHECK(width(std::type_identity<LexicalCourseworkModel<D, any>>{}, deeper) == 11);
  CHECK(width(std::type_identity<PlainCourseworkModel<D, any>>{}, shape) == 6);
  CHECK(width(std::type_identity<ComparisonModel<D, OnEncoderAndPast<Additive<>>, any>>{}, shape) == 18);
}

TEST_CASE("recurrent sizes: wrong sizes are refused with their names") {
  D device(1);
  const auto refusal = [&](const auto& type, const RecurrentShape& given) {
    using Model = typename std::decay_t<decltype(type)>::type;
    return error_of([&] { Network<Model>(device, options_of(given), 1); });
  };
  const std::type_identity<CourseworkModel<D, any>> feeding;
  CHECK(contains(refusal(feeding, {.width = 0}), "128 (embedding), 0 (width), 2 and 2 (layers). All must be positive"));
  CHECK(contains(refusal(feeding, {.width = 7}), "each direction outputs half the width, so it must be even, not 7"));
  CHECK(contains(refusal(std::type_identity<ComparisonModel<D, NoAttention, any>>{}, deeper),
                 "Seq2Seq: the decoder's 3 layers start with the states of the encoder's 1"));
  CHECK(contains(refusal(std::type_identity<PlainCourseworkModel<D, any>>{}, deeper), "InputFeeding without attention"));
  CHECK(contains(refusal(std::type_identity<ComparisonModel<D, OnSelfAttention<2, ScaledDot>, any>>{}, {.width = 7}),
                 "a width of 7 is not a multiple of 2 heads"));
}

TEST_CASE("recurrent sizes: a policy's layer without constructors keeps the values of its members") {
  struct Scaled {
    double factor = 3;
  };
  CHECK(construct<Scaled>(Size<4>(4), Size<4>(4)).factor == 3);
  CHECK(construct<Scaled>(Size<4>(4)).factor == 3);
}
