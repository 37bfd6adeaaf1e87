#include "attn/decode/greedy.hpp"

#include <set>

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 16, .heads = 4, .inner = 32};
const TransformerOptions vocabularies{.source_vocabulary = 11, .target_vocabulary = 13};
const GreedyOptions until_end{.begin = 2, .end = 3, .limit = 12};

/// A model whose translations differ from sentence to sentence, and are not one word again and again.
template <class Attention = Full<>, class Norm = PostNorm>
struct Fixture {
  D device;
  Transformer<D, shape, Attention, Norm> model{vocabularies};
  Parameters<D> parameters{device, model, 7};

  Fixture() { shake(parameters, 0.2, 7); }

  auto translate(const Sentences& source, const GreedyOptions& options = until_end) {
    return greedy(device, model, source, options);
  }

  /// The same for one sentence, computing every word from scratch.
  std::vector<Token> from_scratch(std::span<const Token> source, const GreedyOptions& options) {
    std::vector<Token> words{options.begin};
    for (Index t = 0; t < options.limit; ++t) {
      Tape<D> tape(device);
      Sentences from, to;
      from.push_back(source);
      to.push_back(words);
      const Text text = upload(tape, from);
      const auto hidden = model.decode(tape, upload(tape, to), model.encode(tape, text), text.rows);
      const auto logits = model.output.logits(hidden).value;
      const double* last = logits.row(logits.rows - 1);
      const auto word = static_cast<Token>(std::max_element(last, last + logits.cols) - last);
      if (word == options.end) break;
      words.push_back(word);
    }
    words.erase(words.begin());
    return words;
  }
};

// Of very different lengths; the third has no words at all.
const Sentences source =
    sentences({{4, 5, 6, 7, 8}, {9, 3}, {}, {10}, {4, 4, 4, 4, 4, 4, 4, 4}, {5, 6}, {10, 9, 8, 7}, {6}});

}  // namespace

TEST_CASE_TEMPLATE("greedy: step-by-step decoding equals decoding from scratch for any sentence ends", Model, Fixture<>,
                   Fixture<Full<DotProduct>>, Fixture<Full<>, PreNorm>, Fixture<Linformer<3, 8>>,
                   Fixture<Linformer<3, 8, Sharing::none>, PreNorm>, Fixture<Linformer<3, 8, Sharing::layers>>) {
  Model fixture;
  std::set<std::size_t> lengths;
  // Every token takes its turn as the end, so that sentences leave the batch at every moment and in every order.
  for (Token end = 0; end < 13; ++end) {
    const GreedyOptions options{.begin = 2, .end = end, .limit = 12};
    const auto translations = fixture.translate(source, options);
    REQUIRE(translations.size() == 8);
    for (Index i = 0; i < source.size(); ++i) {
      const auto& translation = translations[static_cast<std::size_t>(i)];
      CHECK(translation == fixture.from_scratch(source[i], options));
      CHECK(std::find(translation.begin(), translation.end(), end) == translation.end());
      lengths.insert(translation.size());
    }
  }
  CHECK(lengths.size() >= 3);  // else the models are too dull to test with
  CHECK(lengths.count(12) == 1);
}

TEST_CASE("greedy: logits of each step equal those of decoding from scratch") {
  Fixture<> fixture;
  const Sentences words = sentences({{2, 5, 7, 7, 12}, {2, 4, 4, 9, 1}, {2, 6, 0, 3, 3}});
  const Sentences from = sentences({{4, 5, 6}, {}, {7}});
  Tape<D> tape(fixture.device);
  const Text text = upload(tape, from);
  const auto hidden = fixture.model.decode(tape, upload(tape, words), fixture.model.encode(tape, text), text.rows);
  const auto expected = fixture.model.output.logits(hidden).value;
  auto state = fixture.model.start(tape, text, 5);
  for (Index t = 0; t < 5; ++t) {
    std::vector<Token> newest;
    for (const Index i : state.active()) newest.push_back(words[i][static_cast<std::size_t>(t)]);
    Tape<D> step(fixture.device);
    const auto logits = next_logits(step, fixture.model, state, newest);
    for (std::size_t i = 0; i < state.active().size(); ++i)
      for (Index j = 0; j < 13; ++j)
        CHECK(std::abs(logits(static_cast<Index>(i), j) - expected(5 * state.active()[i] + t, j)) < 1e-12);
    if (t == 1) state.keep({true, false, true});
    if (t == 2) state.keep({false, true});
  }
  CHECK(state.active() == std::vector<Index>{2});
}

TEST_CASE("greedy: a translation does not depend on the batch or its order") {
  Fixture<> fixture;
  const auto together = fixture.translate(source);
  Sentences backward;
  for (Index i = source.size() - 1; i >= 0; --i) backward.push_back(source[i]);
  const auto turned = fixture.translate(backward);
  for (Index i = 0; i < source.size(); ++i) {
    Sentences alone;
    alone.push_back(source[i]);
    CHECK(fixture.translate(alone)[0] == together[static_cast<std::size_t>(i)]);
    CHECK(turned[static_cast<std::size_t>(source.size() - 1 - i)] == together[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("greedy: the caller can end sentences and is not asked again about ended ones") {
  Fixture<> fixture;
  std::vector<Index> asked(8, 0);
  const auto translations =
      greedy(fixture.device, fixture.model, source, until_end, [&](Index sentence, Index length, Token) {
        CHECK(length == asked[static_cast<std::size_t>(sentence)]++);
        return length == sentence % 5;
      });
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(translations[i].size() == i % 5);
    CHECK(asked[i] == static_cast<Index>(i % 5) + 1);
    const auto unlimited =
        greedy(fixture.device, fixture.model, source, until_end, [](Index, Index, Token) { return false; });
    CHECK(unlimited[i].size() == 12);
    CHECK(std::equal(translations[i].begin(), translations[i].end(), unlimited[i].begin()));
  }
}

TEST_CASE("greedy: handles length limits and empty batches") {
  Fixture<> fixture;
  const auto never = [](Index, Index, Token) { return false; };
  for (const Index limit : {0, 1, 3})
    for (const auto& translation :
         greedy(fixture.device, fixture.model, source, {.begin = 2, .end = 3, .limit = limit}, never))
      CHECK(translation.size() == static_cast<std::size_t>(limit));
  CHECK(fixture.translate(Sentences{}).empty());
  CHECK(greedy(fixture.device, fixture.model, sentences({{}}), {.begin = 2, .end = 3, .limit = 4}, never)[0].size() == 4);
}

TEST_CASE("greedy: rejects a begin token outside the vocabulary") {
  Fixture<> fixture;
  const std::string said = complaint([&] { fixture.translate(source, {.begin = 13, .end = 3, .limit = 4}); });
  CHECK(said.find("token 13 is not in a vocabulary of 13") != std::string::npos);
}

TEST_CASE("greedy: frees its memory and the next translation needs no more") {
  Fixture<> fixture;
  const auto first = fixture.translate(source);
  const auto capacity = fixture.device.activations.capacity();
  for (int i = 0; i < 5; ++i) CHECK(fixture.translate(source) == first);
  CHECK(fixture.device.activations.capacity() == capacity);
}
