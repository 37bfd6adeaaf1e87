#pragma once
#include <vector>

#include "attn/attention/global.hpp"
#include "attn/models/active_sentences.hpp"
#include "attn/models/prediction.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tape/batch.hpp"
#include "attn/tape/input_feeding.hpp"
#include "attn/tape/steps.hpp"

namespace attn {

namespace input_feeding_detail {

/// What a decoder of this score looks at; Words columns of the source's words are averaged along with the values.
template <class Device, int Width, class Score, class KeyValuePolicy, int Words>
struct Looks {
  using Attention = GlobalAttention<Device, Width, Width, Score, KeyValuePolicy>;
  using Mix = Projection<Device, Width + Attention::value_width, Width>;
  using Seen = KeysValues<Device, Attention::width, Attention::value_width + Words>;
  static constexpr bool attends = true, folds = Attention::folds;
};
template <class Device, int Width, class KeyValuePolicy, int Words>
struct Looks<Device, Width, NoAttention, KeyValuePolicy, Words> {
  struct Nothing {
    void for_each_parameter(auto&&) {}
  };
  using Attention = Nothing;
  using Mix = Nothing;
  struct Seen {
    Ragged rows;
  };
  static constexpr bool attends = false, folds = false;
};

}  // namespace input_feeding_detail

/// A decoder that is fed what it saw: the input of each step is the word and the attention's output of the step before,
///
///     hₜ = lstm([eₜ; aₜ₋₁]),   cₜ = attention(hₜ, source),   aₜ = tanh(W [hₜ; cₜ])
///
/// and words are predicted from a. It starts with 0. Each step waits for the one before it: where scores are products all
/// steps of a batch are one op, else it goes step by step, as decoding does. Luong et al. 2015, sections 3.1 and 3.3.
///
/// With NoAttention as its score it is fed the hidden state instead, aₜ = hₜ, step by step. All it knows of the source is
/// then what it starts with: the encoder's last states, and of these a₀ = h₀.
template <class Device, RecurrentShape Shape, class Reading = BothWays, class Score = Multiplicative,
          class KeyValuePolicy = States, class Prediction = FromStates>
struct InputFeeding {
  using DeviceType = Device;
  using Options = RecurrentOptions;
  static constexpr RecurrentShape shape = Shape;
  using Looks =
      input_feeding_detail::Looks<Device, Shape.width, Score, KeyValuePolicy, Prediction::sees_words ? Shape.words : 0>;
  static_assert(
      Looks::attends || Shape.encoder_layers == Shape.decoder_layers,
      "attn: InputFeeding: without attention the decoder's layers start with the states of the encoder's, so there "
      "must be as many");
  static_assert(Looks::attends || !Prediction::sees_words,
                "attn: InputFeeding: the lexical model averages the source's words by attention; choose a score");
  static constexpr int width = Shape.width;
  static constexpr int predicts_from = width + (Prediction::sees_words ? Shape.words : 0);
  using X = Variable<Device, width>;
  using Encoder = typename Reading::template Encoder<Device, Shape>;
  using Attention = typename Looks::Attention;
  using Decoder = LstmStack<Device, Shape.words + width, width, Shape.decoder_layers>;
  using Seen = typename Looks::Seen;
  class State;

  Encoder encoder;                               // the source's words, and LSTMs over them
  WordEmbedding<Device, Shape.words> embedding;  // of the target's words
  Decoder decoder;
  Attention attention;                        // of the decoder's state over the encoder's
  typename Looks::Mix mix;                    // W
  LexicalLayer<Device, Shape.words> lexical;  // only where the prediction sees words
  Output<Device, predicts_from> output;       // linear, softmax
  float dropout = 0;                          // of a

  explicit InputFeeding(const RecurrentOptions& options)
      : encoder(options.source_vocabulary, options.dropout),
        embedding(options.target_vocabulary, options.dropout.words),
        decoder(options.dropout.states),
        output(options.target_vocabulary),
        dropout(options.dropout.attention) {}
  InputFeeding(const InputFeeding&) = delete;  // a copy would share its parameters with the original

  /// What each of the target's words is predicted from.
  Variable<Device, predicts_from> hidden(Tape<Device>& tape, const Text& source, const Text& target) const;

  /// The same step by step: what it gives where one op cannot do all steps, and what that op is tested against.
  Variable<Device, predicts_from> hidden_by_steps(Tape<Device>& tape, const Text& source, const Text& target) const;

  /// The loss of predicting each label from the source and the target before it.
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    return output.loss(hidden(tape, source, target), labels, options);
  }

  /// Decoding: what the decoder remembers before the first word, in memory of a tape that outlives the words; with room for
  /// so many hypotheses of each sentence.
  State start(Tape<Device>& tape, const Text& source, Index longest, Index hypotheses = 1) const {
    return State(tape, source.rows, longest, hypotheses, begin(tape, source));
  }
  /// Reads the newest word of each active sentence: what the next one is predicted from.
  Variable<Device, predicts_from> read(Tape<Device>& tape, State& state, const std::vector<Token>& words) const;
  /// Unnormalised log-probabilities of the next word of each active sentence, given its newest word.
  Matrix<typename Device::Scalar> next(Tape<Device>& tape, State& state, const std::vector<Token>& words) const {
    return state.choices.logits(output, read(tape, state, words));
  }

  void for_each_parameter(auto&& visit) {
    visit("encoder", encoder);
    visit("embedding", embedding);
    visit("decoder", decoder);
    visit("attention", attention);
    visit("mix", mix);
    if constexpr (Prediction::sees_words) visit("lexical", lexical);
    visit("output", output);
  }

 private:
  using Average = Variable<Device, predicts_from - width>;  // of the source's words

  /// What a step leaves for the next one, and for the output.
  struct Step {
    typename Decoder::States states;
    X fed;            // a, after dropout
    Average average;  // none where the prediction does not see words
  };

  /// What the decoder can see of the source, and what its first step is given; without values where that is 0.
  struct Beginning {
    Seen seen;
    Step before;
  };

  Beginning begin(Tape<Device>& tape, const Text& source) const {
    const auto read = encoder(tape, source);
    if constexpr (Looks::attends)
      return {averaged<Prediction>(attention.remember(read.states, source.rows), read.words), {}};
    else
      return {{source.rows}, {read.last, read.last.back().h, {}}};
  }
  /// One op can do all steps of a batch.
  static constexpr bool kOneOp = Looks::folds && Shape.decoder_layers <= InputFeedingArgs<Device>::kMostLayers;
  Step step(Variable<Device, Shape.words> words, const Step& before, const TimeMajor& layout, const Seen& source) const;
  Variable<Device, predicts_from> with_words(X fed, Average average) const {
    if constexpr (Prediction::sees_words)
      return concat(fed, lexical(average));
    else
      return fed;
  }
};

template <class Device, RecurrentShape Shape, class Reading, class Score, class KeyValuePolicy, class Prediction>
auto InputFeeding<Device, Shape, Reading, Score, KeyValuePolicy, Prediction>::step(Variable<Device, Shape.words> words,
                                                                                   const Step& before,
                                                                                   const TimeMajor& layout,
                                                                                   const Seen& source) const -> Step {
  Step now;
  const auto [h, last] = decoder(concat(words, before.fed), layout, before.states);
  now.states = last;
  if constexpr (!Looks::attends) {
    now.fed = attn::dropout(h, dropout);
  } else {
    const auto finish = [&, h = h](auto context) { now.fed = attn::dropout(tanh(mix(concat(h, context))), dropout); };
    const auto seen = attention(h, layout.rows, source);
    if constexpr (Prediction::sees_words) {
      now.average = slice<Attention::value_width, Shape.words>(seen);
      finish(slice<0, Attention::value_width>(seen));
    } else {
      finish(seen);
    }
  }
  return now;
}

template <class Device, RecurrentShape Shape, class Reading, class Score, class KeyValuePolicy, class Prediction>
auto InputFeeding<Device, Shape, Reading, Score, KeyValuePolicy, Prediction>::hidden(Tape<Device>& tape, const Text& source,
                                                                                     const Text& target) const
    -> Variable<Device, predicts_from> {
  if constexpr (!kOneOp) {
    return hidden_by_steps(tape, source, target);
  } else {
    const auto seen = attention.folded(begin(tape, source).seen);
    const auto words = embedding(tape, target);
    InputFeedingWeights<Device, Shape.decoder_layers> weights{
        .layers = {}, .mix = mix.weight, .between_layers = decoder.dropout, .fed = dropout};
    const auto set = [&](std::size_t l, const auto& layer) {
      weights.layers[l] = {layer.input, layer.recurrent, layer.bias};
    };
    set(0, decoder.first);
    for (std::size_t i = 0; i < decoder.others.size(); ++i) set(i + 1, decoder.others[i]);
    const auto layout = time_major(tape, target.rows, target.offsets);
    const auto [fed, context] = input_feeding<Device>(words, layout, seen, attention.score.scale, weights);
    sign_weights(tape, attention, true);
    if constexpr (Prediction::sees_words)
      return with_words(fed, slice<Attention::value_width, Shape.words>(context));
    else
      return fed;
  }
}

template <class Device, RecurrentShape Shape, class Reading, class Score, class KeyValuePolicy, class Prediction>
auto InputFeeding<Device, Shape, Reading, Score, KeyValuePolicy, Prediction>::hidden_by_steps(Tape<Device>& tape,
                                                                                              const Text& source,
                                                                                              const Text& target) const
    -> Variable<Device, predicts_from> {
  auto [seen, now] = begin(tape, source);
  const auto words = embedding(tape, target);
  const Steps<Device> steps(tape, target, source);
  X* fed = tape.device.tape_nodes.template array<X>(steps.size());
  Average* averages = tape.device.tape_nodes.template array<Average>(steps.size());
  if constexpr (Looks::attends) {
    now.fed = tape.make_result(target.rows.count, width, false);  // a constant
    tape.device.zero(now.fed.value);
  } else if (steps.size() > 0) {
    const auto sorted = [&](X x) { return X(gather_rows(x, steps.order(), steps.alive(0))); };
    for (auto& state : now.states) state = {sorted(state.h), sorted(state.c)};
    now.fed = now.states.back().h;
  }
  const std::int32_t* rows = steps.rows();
  for (Index t = 0; t < steps.size(); rows += steps.alive(t++)) {
    now.fed = steps.survivors(now.fed, t);
    if (t > 0)
      for (auto& state : now.states) state = {steps.survivors(state.h, t), steps.survivors(state.c, t)};
    seen.rows = steps.source(t);
    const Ragged layout = steps.layout(t);
    now = step(gather_rows(words, rows, steps.alive(t)), now, {layout, layout.begin}, seen);
    fed[t] = now.fed;
    averages[t] = now.average;
  }
  if constexpr (Prediction::sees_words)
    return with_words(collect(tape, fed, steps, target.rows.rows), collect(tape, averages, steps, target.rows.rows));
  else
    return collect(tape, fed, steps, target.rows.rows);
}

/// What the decoder remembers between two words.
template <class Device, RecurrentShape Shape, class Reading, class Score, class KeyValuePolicy, class Prediction>
class InputFeeding<Device, Shape, Reading, Score, KeyValuePolicy, Prediction>::State : public ActiveSentences<Device> {
 public:
  State(Tape<Device>& tape, Ragged rows, Index longest, Index hypotheses, const Beginning& beginning)
      : ActiveSentences<Device>(tape, {&rows, 1}, longest, hypotheses),
        seen(beginning.seen),
        lstm(tape, this->layout().places, beginning.before.states),
        fed(tape, this->layout().places, beginning.before.fed) {}

  Seen seen;  // of the source
  LstmCache<Device, width, Shape.decoder_layers> lstm;
  RowCache<Device, width> fed;
};

template <class Device, RecurrentShape Shape, class Reading, class Score, class KeyValuePolicy, class Prediction>
auto InputFeeding<Device, Shape, Reading, Score, KeyValuePolicy, Prediction>::read(Tape<Device>& tape, State& state,
                                                                                   const std::vector<Token>& words) const
    -> Variable<Device, predicts_from> {
  const Text text = state.advance(tape, words);
  const Index count = text.rows.count;
  state.seen.rows = state.source();
  const auto* places = state.read_places();
  const Step before{state.lstm.read(tape, places, count), state.fed.read(tape, places, count), {}};
  const Step now = step(embedding(tape, text), before, one_step(text.rows), state.seen);
  state.lstm.write(tape, now.states, state.places());
  state.fed.write(tape, now.fed, state.places());
  return with_words(now.fed, now.average);
}

}  // namespace attn
