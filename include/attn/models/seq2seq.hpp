#pragma once
#include <vector>

#include "attn/attention/decoder_attention.hpp"
#include "attn/models/active_sentences.hpp"
#include "attn/models/prediction.hpp"
#include "attn/models/recurrent_encoder.hpp"
#include "attn/nn/output.hpp"
#include "attn/tape/batch.hpp"

namespace attn {

/// What a recurrent model is told at run time.
struct RecurrentOptions {
  Index source_vocabulary = 0, target_vocabulary = 0;
  RecurrentDropout dropout = {};
};

/// An LSTM reads the source, another, which starts with the states that the first ends in, writes the target. Reading says
/// how the source is read, Attends what the writer looks at as it goes along, and how it scores what it sees. Every word is
/// predicted from the state and the contexts: softmax(W [h; c_source; c_past] + b). The decoder does not depend on what it
/// sees, so all its steps are one call, and all attention of a batch is one call. Sutskever et al. 2014; Chittersu's
/// models.
template <class Device, RecurrentShape Shape, class Reading, class Attends = NoAttention, class Prediction = FromStates>
struct Seq2Seq {
  static_assert(DecoderAttentionPolicy<Attends>,
                "attn: Seq2Seq: what the decoder attends to is NoAttention, OnEncoder<Score>, OnEncoderAndPast<Score> or "
                "OnSelfAttention<Heads, Score>; wrap a score:  OnEncoder<Dot>");
  static_assert(Shape.encoder_layers == Shape.decoder_layers,
                "attn: Seq2Seq: the decoder's layers start with the states of the encoder's, so there must be as many");
  static_assert(Attends::attends_to_source || !Prediction::sees_words,
                "attn: Seq2Seq: the lexical model averages the source's words by attention; choose one that looks at it");
  using DeviceType = Device;
  using Options = RecurrentOptions;
  static constexpr RecurrentShape shape = Shape;
  static constexpr int width = Shape.width;
  static constexpr int kSeen = Prediction::sees_words ? Shape.words : 0;
  using X = Variable<Device, width>;
  using Encoder = typename Reading::template Encoder<Device, Shape>;
  using Attention = DecoderAttention<Device, width, width, Attends>;
  using Seen = typename Attention::template Seen<kSeen>;
  static constexpr int predicts_from = width + Attention::width + kSeen;
  class State;

  Encoder encoder;                               // the source's words, and LSTMs over them
  WordEmbedding<Device, Shape.words> embedding;  // of the target's words
  LstmStack<Device, Shape.words, width, Shape.decoder_layers> decoder;
  Attention attention;                        // where the decoder looks
  LexicalLayer<Device, Shape.words> lexical;  // only where the prediction sees words
  Output<Device, predicts_from> output;       // linear, softmax
  float dropout = 0;

  explicit Seq2Seq(const RecurrentOptions& options)
      : encoder(options.source_vocabulary, options.dropout),
        embedding(options.target_vocabulary, options.dropout.words),
        decoder(options.dropout.states),
        output(options.target_vocabulary),
        dropout(options.dropout.states) {}
  Seq2Seq(const Seq2Seq&) = delete;  // a copy would share its parameters with the original

  /// What each of the target's words is predicted from.
  Variable<Device, predicts_from> hidden(Tape<Device>& tape, const Text& source, const Text& target) const {
    const auto read = encoder(tape, source);
    const auto h = decoder(embedding(tape, target), time_major(tape, target.rows, target.offsets), read.last).h;
    return contexts(attn::dropout(h, dropout), target.rows, look_at(read, source.rows),
                    Attends::attends_to_past ? all_but_last(tape, target) : Ragged{}, nullptr);
  }

  /// The loss of predicting each label from the source and the target before it.
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    return output.loss(hidden(tape, source, target), labels, options);
  }

  /// Decoding: what the decoder remembers before the first word, in memory of a tape that outlives the words; with room for
  /// so many hypotheses of each sentence.
  State start(Tape<Device>& tape, const Text& source, Index longest, Index hypotheses = 1) const {
    const auto read = encoder(tape, source);
    return State(tape, source.rows, longest, hypotheses, look_at(read, source.rows), read.last);
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
    if constexpr (Prediction::sees_words) visit("lexical", lexical);
    visit("output", output);
  }

 private:
  /// What the decoder can see of the source.
  Seen look_at(const Encoded<Device, Shape>& read, Ragged rows) const {
    if constexpr (Attends::attends_to_source)
      return averaged<Prediction>(attention.remember(read.states, rows), read.words);
    else
      return {};
  }

  /// [h; c_source; c_past; words], as many of them as there are.
  Variable<Device, predicts_from> contexts(X h, Ragged rows, Seen source, Ragged earlier,
                                           typename Attention::Past* past) const;
};

template <class Device, RecurrentShape Shape, class Reading, class Attends, class Prediction>
auto Seq2Seq<Device, Shape, Reading, Attends, Prediction>::contexts(X h, Ragged rows, Seen source, Ragged earlier,
                                                                    typename Attention::Past* past) const
    -> Variable<Device, predicts_from> {
  if constexpr (!Attends::attends_to_source) {
    return h;
  } else {
    const auto joined = [&](auto context, auto... words) {
      if constexpr (Attends::attends_to_past)
        return concat(h, context, attention.back(h, rows, earlier, past), words...);
      else
        return concat(h, context, words...);
    };
    const auto seen = attention.at_source(h, rows, source);
    if constexpr (Prediction::sees_words) {
      return joined(slice<0, Attention::source_width>(seen), lexical(slice<Attention::source_width, Shape.words>(seen)));
    } else {
      return joined(seen);
    }
  }
}

/// What the decoder remembers between two words.
template <class Device, RecurrentShape Shape, class Reading, class Attends, class Prediction>
class Seq2Seq<Device, Shape, Reading, Attends, Prediction>::State : public ActiveSentences<Device> {
 public:
  State(Tape<Device>& tape, Ragged rows, Index longest, Index hypotheses, const Seen& source,
        const std::array<LstmState<Device, width>, Shape.decoder_layers>& initial)
      : ActiveSentences<Device>(tape, {&rows, 1}, longest, hypotheses),
        seen(source),
        past(tape, this->layout()),
        lstm(tape, this->layout().places, initial) {}

  Seen seen;  // of the source
  typename Attention::Past past;
  LstmCache<Device, width, Shape.decoder_layers> lstm;
};

template <class Device, RecurrentShape Shape, class Reading, class Attends, class Prediction>
auto Seq2Seq<Device, Shape, Reading, Attends, Prediction>::read(Tape<Device>& tape, State& state,
                                                                const std::vector<Token>& words) const
    -> Variable<Device, predicts_from> {
  const Text text = state.advance(tape, words);
  const Index count = text.rows.count;
  const auto [h, last] =
      decoder(embedding(tape, text), one_step(text.rows), state.lstm.read(tape, state.read_places(), count));
  state.lstm.write(tape, last, state.places());
  if constexpr (Attends::attends_to_source) state.seen.rows = state.source();
  return contexts(h, text.rows, state.seen, state.layout().earlier(), &state.past);
}

}  // namespace attn
