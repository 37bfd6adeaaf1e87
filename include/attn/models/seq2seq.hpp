#pragma once
#include "attn/attention/decoder_attention.hpp"
#include "attn/models/active_sentences.hpp"
#include "attn/models/prediction.hpp"
#include "attn/models/recurrent_encoder.hpp"

namespace attn {

struct RecurrentOptions {
  Index source_vocabulary = 0, target_vocabulary = 0;
  RecurrentDropout dropout = {};
  RecurrentShape shape = {};  // of a model with dynamic_recurrent_shape
};

/// An encoder LSTM reads the source, and a decoder LSTM that starts with the encoder's last states generates the target.
/// Reading is the encoder policy, Attends the attention policy. Each token is predicted from the state and the contexts:
/// softmax(W [h; c_source; c_past] + b). The decoder does not read the contexts, so one call computes all its steps, and one
/// call all attention of a batch. Sutskever et al. 2014; Chittersu's models.
template <class Device, RecurrentShape Shape, class Reading, class Attends = NoAttention, class Prediction = FromStates>
struct Seq2Seq {
  static_assert(DecoderAttentionPolicy<Attends>,
                "attn: Seq2Seq: the decoder's attention is NoAttention, OnEncoder<Score>, OnEncoderAndPast<Score> or "
                "OnSelfAttention<Heads, Score>. Wrap a score:  OnEncoder<DotProduct>");
  static_assert(
      Shape.encoder_layers == Shape.decoder_layers,
      "attn: Seq2Seq: the decoder's layers start with the states of the encoder's, so both need the same number of layers");
  static_assert(
      Attends::attends_to_source || !Prediction::uses_embeddings,
      "attn: Seq2Seq: the lexical model averages source words by attention. Choose an attention over the source.");
  using DeviceType = Device;
  using Options = RecurrentOptions;
  static constexpr int width = Shape.width;
  static constexpr int kSeen = Prediction::uses_embeddings ? Shape.embedding : 0;
  using X = Variable<Device, width>;
  using Encoder = typename Reading::template Encoder<Device, Shape>;
  using Attention = DecoderAttention<Device, width, width, Attends>;
  using SourceKeysValues = typename Attention::template SourceKeysValues<kSeen>;
  static constexpr int predicts_from = total(width, Attention::width, kSeen);

  struct State : ActiveSentences<Device> {
    SourceKeysValues seen;  // of the source
    typename Attention::Past past;
    LstmCache<Device, width> lstm;

    State(const Seq2Seq& model, Tape<Device>& tape, Ragged rows, Index longest, Index hypotheses, SourceKeysValues source,
          const LstmStates<Device, width>& initial)
        : ActiveSentences<Device>(tape, {&rows, 1}, longest, hypotheses),
          seen(source),
          past(tape, this->layout(), model.attention, model.shape.width),
          lstm(tape, this->layout().places, model.decoder.size(), model.shape.width, initial) {}
  };

  RecurrentShape shape;
  Encoder encoder;                                   // source embeddings, and LSTMs over them
  WordEmbedding<Device, Shape.embedding> embedding;  // of target tokens
  LstmStack<Device, Shape.embedding, width, Shape.decoder_layers> decoder;
  Attention attention;
  LexicalLayer<Device, Shape.embedding> lexical;  // used only if Prediction::uses_embeddings
  Output<Device, predicts_from> output;           // linear, softmax
  float dropout = 0;

  explicit Seq2Seq(const RecurrentOptions& options)
      : shape(resolve_shape(Shape, options.shape)),
        encoder(options.source_vocabulary, shape, options.dropout),
        embedding(options.target_vocabulary, shape.embedding, options.dropout.embedding),
        decoder(shape.embedding, shape.width, shape.decoder_layers, options.dropout.states),
        attention(shape.width, shape.width),
        lexical(shape.embedding),
        output(options.target_vocabulary,
               shape.width + attention.columns() + (Prediction::uses_embeddings ? shape.embedding : 0)),
        dropout(options.dropout.states) {
    require_equal_layers(shape, "Seq2Seq");
  }
  Seq2Seq(const Seq2Seq&) = delete;  // a copy would share its parameters with the original

  Variable<Device, predicts_from> hidden(Tape<Device>& tape, const Text& source, const Text& target) const {
    const auto read = encoder(tape, source);
    const auto h = decoder(embedding(tape, target), time_major(tape, target.rows, target.offsets), read.last).h;
    return contexts(attn::dropout(h, dropout), target.rows, look_at(read, source.rows),
                    Attends::attends_to_past ? all_but_last(tape, target) : Ragged{}, nullptr);
  }

  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    return output.loss(hidden(tape, source, target), labels, options);
  }

  /// Starts decoding, as in Transformer.
  State start(Tape<Device>& tape, const Text& source, Index longest, Index hypotheses = 1) const {
    const auto read = encoder(tape, source);
    return State(*this, tape, source.rows, longest, hypotheses, look_at(read, source.rows), read.last);
  }
  Variable<Device, predicts_from> read(Tape<Device>& tape, State& state, const std::vector<Token>& tokens) const {
    const Text text = state.advance(tape, tokens);
    const Index count = text.rows.count;
    const auto [h, last] =
        decoder(embedding(tape, text), one_step(text.rows), state.lstm.read(tape, state.read_places(), count));
    state.lstm.write(tape, last, state.places());
    if constexpr (Attends::attends_to_source) state.seen.rows = state.source();
    return contexts(h, text.rows, state.seen, state.layout().earlier(), &state.past);
  }

  void for_each_parameter(auto&& visit) {
    visit("encoder", encoder);
    visit("embedding", embedding);
    visit("decoder", decoder);
    visit("attention", attention);
    if constexpr (Prediction::uses_embeddings) visit("lexical", lexical);
    visit("output", output);
  }

 private:
  SourceKeysValues look_at(const Encoded<Device, Shape>& read, Ragged rows) const {
    if constexpr (Attends::attends_to_source)
      return averaged<Prediction>(attention.remember(read.states, rows), read.embedded);
    else
      return {};
  }

  /// [h; c_source; c_past; averaged embeddings], without the parts that the policies do not use.
  Variable<Device, predicts_from> contexts(X h, Ragged rows, SourceKeysValues source, Ragged earlier,
                                           typename Attention::Past* past) const {
    if constexpr (!Attends::attends_to_source) {
      return h;
    } else {
      const auto joined = [&](auto context, auto... parts) {
        if constexpr (Attends::attends_to_past)
          return concat(h, context, attention.back(h, rows, earlier, past), parts...);
        else
          return concat(h, context, parts...);
      };
      const auto seen = attention.at_source(h, rows, source);
      if constexpr (Prediction::uses_embeddings)
        return joined(slice(seen, 0, attention.encoder.values),
                      lexical(slice(seen, attention.encoder.values, shape.embedding)));
      else
        return joined(seen);
    }
  }
};

}  // namespace attn
