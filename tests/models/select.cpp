// Rows of a decoder that are selected between two steps: repeated, turned around, left out.

#include "attn/models/active_sentences.hpp"
#include "support/recurrent.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 2, .width = 16, .heads = 2, .inner = 24};
constexpr RecurrentShape recurrent{.embedding = 5, .width = 6, .encoder_layers = 2, .decoder_layers = 2};
using Rows = std::vector<Index>;
using Logits = std::vector<std::vector<double>>;  // of each row

/// A model that writes: sentences of 5, none, 1 and 8 words, three hypotheses each.
template <class Model>
struct Writer {
  D device{1};
  Model model{{.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords}};
  Parameters<D> parameters{device, model, 3};
  Sentences source = random_sentences({5, 0, 1, 8}, kSourceWords, 3);
  Tape<D> tape{device};
  Text text = upload(tape, source);

  Writer() { shake(parameters, 0.5); }

  auto start() { return model.start(tape, text, 6, 3); }

  Logits next(auto& state, const std::vector<Token>& words) {
    Tape<D> step(device);
    const auto logits = next_logits(step, model, state, words);
    Logits rows;
    for (Index i = 0; i < logits.rows; ++i) rows.emplace_back(logits.row(i), logits.row(i) + logits.cols);
    return rows;
  }
};

template <class... Models>
void with_each(auto&& test) {
  (test.template operator()<Models>(), ...);
}
void with_every_model(auto&& test) {
  with_each<Transformer<D, shape>, Transformer<D, shape, Full<>, PreNorm>, Transformer<D, shape, Linformer<3, 8>>,
            Transformer<D, shape, Linformer<3, 8, Sharing::layers>>, Seq2Seq<D, recurrent, OneWay>,
            Seq2Seq<D, recurrent, BothWaysProjected, OnEncoder<Additive<4>>, Lexical>,
            Seq2Seq<D, recurrent, BothWays, OnEncoderAndPast<ReducedRank<2>, KeyValue<4, 3>>>,
            Seq2Seq<D, recurrent, BothWays, OnSelfAttention<2, Multiplicative>>, InputFeeding<D, recurrent>,
            InputFeeding<D, recurrent, BothWays, Additive<4>, SharedKeyValue, Lexical>,
            InputFeeding<D, recurrent, BothWays, NoAttention>>(test);
}

}  // namespace

TEST_CASE("select: selecting a row twice gives the same bits twice") {
  with_every_model([]<class M>() {
    Writer<M> writer;
    auto state = writer.start();
    writer.next(state, {2, 2, 2, 2});
    writer.next(state, {4, 5, 6, 7});
    state.select(Rows{3, 0, 3, 0, 2, 3});  // the words so far are copied
    CHECK(state.active() == Rows{3, 0, 3, 0, 2, 3});
    auto logits = writer.next(state, {8, 9, 8, 9, 4, 8});
    CHECK(logits[0] == logits[2]);
    CHECK(logits[0] == logits[5]);
    CHECK(logits[1] == logits[3]);
    CHECK(logits[0] != logits[1]);
    logits = writer.next(state, {5, 6, 5, 7, 4, 9});  // two go on alike, the others part
    CHECK(logits[0] == logits[2]);
    CHECK(logits[0] != logits[5]);
    CHECK(logits[1] != logits[3]);
    state.select(Rows{2, 2});  // the copy is copied
    logits = writer.next(state, {6, 6});
    CHECK(logits[0] == logits[1]);
  });
}

TEST_CASE("select: diverging hypotheses match decoding each from scratch") {
  with_every_model([]<class M>() {
    Writer<M> writer;
    auto state = writer.start();
    const std::vector<std::vector<Token>> words{{2, 2, 2, 2}, {4, 5, 6, 7, 8}, {9, 4, 8, 12, 5, 6}, {7, 6, 5}};
    const std::vector<Rows> selections{{1, 3, 3, 0, 3}, {2, 0, 1, 2, 4, 4}, {5, 0, 3}};
    std::vector<std::vector<Token>> written{{2}, {2}, {2}, {2}};  // of each row
    Rows sentence{0, 1, 2, 3};
    Logits logits = writer.next(state, words[0]);
    for (std::size_t t = 0; t < selections.size(); ++t) {
      state.select(selections[t]);
      const auto before = written;
      const Rows sentence_before = sentence;
      written.clear(), sentence.clear();
      for (std::size_t i = 0; i < selections[t].size(); ++i) {
        const auto row = static_cast<std::size_t>(selections[t][i]);
        written.push_back(before[row]);
        written.back().push_back(words[t + 1][i]);
        sentence.push_back(sentence_before[row]);
      }
      CHECK(state.active() == sentence);
      logits = writer.next(state, words[t + 1]);
      for (std::size_t i = 0; i < written.size(); ++i) {
        auto alone = writer.start();
        Logits expected;
        for (std::size_t k = 0; k < written[i].size(); ++k) {
          if (k == 0) alone.select(Rows{sentence[i]});
          expected = writer.next(alone, {written[i][k]});
        }
        CHECK(largest_difference(logits[i], expected[0]) <= 1e-12);
      }
    }
  });
}

TEST_CASE("select: listed positions give the same bits as copied ones") {
  with_each<Transformer<D, shape>, Transformer<D, shape, Full<>, PreNorm>>([]<class M>() {
    Writer<M> writer;
    auto copied = writer.start(), listed = writer.start();
    listed.list_positions();
    const std::vector<std::vector<Token>> words{{2, 2, 2, 2}, {4, 5, 6, 7, 8}, {9, 4, 8, 12, 5, 6}, {7, 6, 5}, {5, 5, 4}};
    const std::vector<Rows> selections{{1, 3, 3, 0, 3}, {2, 0, 1, 2, 4, 0}, {3, 0, 3}, {2, 1, 1}};
    bool some_copied = false;
    for (std::size_t t = 0; t < words.size(); ++t) {
      if (t > 0) copied.select(selections[t - 1]), listed.select(selections[t - 1]);
      CHECK(writer.next(listed, words[t]) == writer.next(copied, words[t]));
      CHECK(listed.layout().copies == 0);
      some_copied |= copied.layout().copies > 0;
    }
    CHECK(some_copied);
  });
}

TEST_CASE("select: permutes rows and keeps selected rows and composes") {
  with_every_model([]<class M>() {
    Writer<M> writer;
    auto straight = writer.start(), turned = writer.start(), kept = writer.start(), composed = writer.start();
    for (auto* state : {&straight, &turned, &kept, &composed}) writer.next(*state, {2, 4, 6, 8});
    turned.select(Rows{2, 0, 3, 1});
    kept.keep({false, true, true, false});
    composed.select(Rows{3, 3, 2, 1});
    composed.select(Rows{3, 2});
    const Logits expected = writer.next(straight, {5, 6, 7, 9}), permuted = writer.next(turned, {7, 5, 9, 6});
    CHECK(permuted == Logits{expected[2], expected[0], expected[3], expected[1]});
    const Logits two = writer.next(kept, {6, 7}), same = writer.next(composed, {6, 7});
    CHECK(kept.active() == Rows{1, 2});
    CHECK(two == same);
    for (std::size_t i = 0; i < 2; ++i) CHECK(largest_difference(two[i], expected[i + 1]) <= 1e-12);
  });
}

TEST_CASE("select: copies nothing if no row repeats and can remove all rows") {
  Writer<Transformer<D, shape>> writer;
  auto state = writer.start();
  writer.next(state, {2, 2, 2, 2});
  CHECK(state.read_places() == nullptr);  // the first places, in order
  state.select(Rows{3, 0});
  writer.next(state, {4, 5});
  CHECK(state.layout().copies == 0);
  CHECK(state.read_places() == state.places());
  CHECK(state.places()[0] == 3);
  state.select(Rows{1, 1, 0});
  writer.next(state, {4, 5, 6});
  CHECK(state.layout().copies == 2);  // both words of one row
  CHECK(state.places()[0] == 0);
  CHECK(state.places()[1] == 4);  // the next place of its sentence
  state.select(Rows{});
  CHECK(state.active().empty());
  CHECK(writer.next(state, {}).empty());
}

TEST_CASE("select: rejects missing rows and more rows than the capacity") {
  Writer<Transformer<D, shape>> writer;
  auto state = writer.start();
  const auto said = [&](const Rows& rows) { return complaint([&] { state.select(rows); }); };
  CHECK(said({0, 4}) == "decoding: the selected row 4 is not one of the 4 active rows");
  CHECK(said({-1}) == "decoding: the selected row -1 is not one of the 4 active rows");
  CHECK(said(Rows(13, 0)) ==
        "decoding: 13 rows are selected, but only 12 are reserved. Start with more hypotheses per sentence.");
  CHECK(said(Rows(12, 0)) == "no complaint");
  CHECK(complaint([&] { state.keep({true}); }) == "decoding: keep has 1 entries for 12 rows");
  CHECK(complaint([&] { writer.model.start(writer.tape, writer.text, 6, 0); }) ==
        "decoding: hypotheses is 0, but must be at least 1");
}
