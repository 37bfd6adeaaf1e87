#pragma once
#include "attn/decode/greedy.hpp"
#include "attn/models/recurrent_models.hpp"
#include "attn/seq2seq.hpp"
#include "support/model_tools.hpp"

// Helpers for tests of recurrent models.

namespace attn_test {

inline constexpr Index kSourceWords = 11, kTargetWords = 13;

/// Sentences of mixed lengths, unsorted, including length 1 and 0 in the source and 0 in the target.
inline Batch ragged_batch() {
  const Sentences from = random_sentences({3, 1, 5, 2, 0}, kSourceWords, 1);
  return Batch::of(from, random_sentences({2, 4, 0, 3, 1}, kTargetWords, 2), special_tokens);
}

template <class Model>
void check_model_gradients(const RecurrentDropout& rates, Index samples) {
  using D = Cpu<double>;
  D device(1);
  Model model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords, .dropout = rates});
  Parameters<D> parameters(device, model, 1);
  shake(parameters, 0.2);
  const Batch batch = ragged_batch();
  const auto loss = [&](Tape<D>& tape) { return model.loss(tape, batch, {.amount = 0.1}); };
  check_gradients(parameters, loss, TapeMode::gradients(), samples);
  check_gradients(parameters, loss, TapeMode::training(1, 1), samples);
}

/// Decodes a batch token by token, where sentences leave as they end, and compares the logits with those of all tokens at
/// once.
template <class Model>
void check_steps() {
  using D = Cpu<double>;
  D device(1);
  Model model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const Batch batch = ragged_batch();
  Tape<D> tape(device);
  const auto hidden = model.hidden(tape, upload(tape, batch.source), upload(tape, batch.target_input));
  const auto all = model.output.logits(hidden).value;
  auto state = model.start(tape, upload(tape, batch.source), batch.target_input.longest());
  double worst = 0;
  for (Index t = 0; t < batch.target_input.longest(); ++t) {
    std::vector<bool> keep;
    for (const Index i : state.active()) keep.push_back(batch.target_input.length(i) > t);
    state.keep(keep);
    std::vector<Token> words;
    for (const Index i : state.active()) words.push_back(batch.target_input[i][static_cast<std::size_t>(t)]);
    Tape<D> step(device);
    const auto logits = next_logits(step, model, state, words);
    for (Index row = 0; row < logits.rows; ++row) {
      const Index i = state.active()[static_cast<std::size_t>(row)];
      const double* whole = all.row(batch.target_input.offsets[static_cast<std::size_t>(i)] + t);
      for (Index j = 0; j < logits.cols; ++j) worst = std::max(worst, std::abs(logits(row, j) - whole[j]));
    }
  }
  CHECK(worst <= 1e-12);
  CHECK(all(0, 0) != all(1, 0));
}

/// Compares batched greedy decoding with caches, where sentences leave at every step, with recomputing every token of every
/// sentence alone.
template <class Model>
void check_decoding() {
  using D = Cpu<double>;
  D device(1);
  Model model({.source_vocabulary = kSourceWords, .target_vocabulary = kTargetWords});
  const Sentences source = random_sentences({5, 2, 0, 1, 8, 2, 4}, kSourceWords, 3);
  const auto from_scratch = [&](Index sentence, const GreedyOptions& options) {
    std::vector<Token> words{options.begin};
    while (static_cast<Index>(words.size()) <= options.limit) {
      Tape<D> tape(device);
      Sentences from, to;
      from.push_back(source[sentence]);
      to.push_back(words);
      const auto logits = model.output.logits(model.hidden(tape, upload(tape, from), upload(tape, to))).value;
      double* last = logits.row(logits.rows - 1);
      if (options.never >= 0) last[options.never] = -HUGE_VAL;
      const auto word = static_cast<Token>(std::max_element(last, last + logits.cols) - last);
      if (word == options.end) break;
      words.push_back(word);
    }
    words.erase(words.begin());
    return words;
  };
  std::vector<std::size_t> lengths;
  for (Token end = 0; end < kTargetWords; ++end) {
    Parameters<D> parameters(device, model, 8);
    shake(parameters, 1.5, static_cast<std::uint64_t>(end));
    for (const Token never : {Token{-1}, Token{end == 4 ? 5 : 4}}) {
      const GreedyOptions options{.begin = 2, .end = end, .limit = 7, .never = never};
      const auto translations = greedy(device, model, source, options);
      for (Index i = 0; i < source.size(); ++i) {
        const auto& translation = translations[static_cast<std::size_t>(i)];
        CHECK(translation == from_scratch(i, options));
        lengths.push_back(translation.size());
      }
    }
  }
  std::sort(lengths.begin(), lengths.end());
  CHECK(std::unique(lengths.begin(), lengths.end()) - lengths.begin() >= 3);  // else the model is too uniform for the test
}

}  // namespace attn_test
