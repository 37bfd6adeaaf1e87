#pragma once
#include "attn/models/seq2seq.hpp"
#include "attn/tape/input_feeding.hpp"

namespace attn {

/// The attention types for a score. Words columns of source embeddings are averaged along with the values.
template <class Device, int Width, class Score, class KeyValuePolicy, int Words>
struct InputFeedingAttention {
  using Attention = GlobalAttention<Device, Width, Width, Score, KeyValuePolicy>;
  using Mix = Projection<Device, total(Width, Attention::value_width), Width>;
  using SourceKeysValues = KeysValues<Device, Attention::width, total(Attention::value_width, Words)>;
  static constexpr bool attends = true, folds = Attention::folds;
};
template <class Device, int Width, class KeyValuePolicy, int Words>
struct InputFeedingAttention<Device, Width, NoAttention, KeyValuePolicy, Words> {
  using Attention = NoLayer;
  using Mix = NoLayer;
  using SourceKeysValues = KeysValues<Device>;
  static constexpr bool attends = false, folds = false;
};

/// A decoder with input feeding: the input of each step is the token and the attention output of the previous step,
///
///     hₜ = lstm([eₜ; aₜ₋₁]),   cₜ = attention(hₜ, source),   aₜ = tanh(W [hₜ; cₜ])
///
/// and tokens are predicted from a. a₀ is 0. Each step depends on the one before it. With dot-product scores one op computes
/// all steps of a batch; otherwise they run one by one, as in decoding. Luong et al. 2015, sections 3.1 and 3.3.
///
/// With NoAttention as its score, the decoder is fed the hidden state instead, aₜ = hₜ, step by step. It then knows the
/// source only through its initial states: the encoder's last states, and a₀ = h₀.
template <class Device, RecurrentShape Shape, class Reading = BothWays, class Score = Multiplicative,
          class KeyValuePolicy = SharedKeyValue, class Prediction = FromStates>
struct InputFeeding {
  using DeviceType = Device;
  using Options = RecurrentOptions;
  using SourceAttention =
      InputFeedingAttention<Device, Shape.width, Score, KeyValuePolicy, Prediction::uses_embeddings ? Shape.embedding : 0>;
  static_assert(
      SourceAttention::attends || Shape.encoder_layers == Shape.decoder_layers,
      "attn: InputFeeding: without attention the decoder's layers start with the states of the encoder's, so both "
      "need the same number of layers");
  static_assert(SourceAttention::attends || !Prediction::uses_embeddings,
                "attn: InputFeeding: the lexical model averages source words by attention. Choose a score.");
  static constexpr int width = Shape.width;
  static constexpr int predicts_from = total(width, Prediction::uses_embeddings ? Shape.embedding : 0);
  using X = Variable<Device, width>;
  using Encoder = typename Reading::template Encoder<Device, Shape>;
  using Attention = typename SourceAttention::Attention;
  using Decoder = LstmStack<Device, total(Shape.embedding, width), width, Shape.decoder_layers>;
  using SourceKeysValues = typename SourceAttention::SourceKeysValues;

  struct State : ActiveSentences<Device> {
    SourceKeysValues seen;  // of the source
    LstmCache<Device, width> lstm;
    RowCache<Device, width> fed;

    State(const InputFeeding& model, Tape<Device>& tape, Ragged rows, Index longest, Index hypotheses,
          SourceKeysValues source, const typename Decoder::States& states, X first)
        : ActiveSentences<Device>(tape, {&rows, 1}, longest, hypotheses),
          seen(source),
          lstm(tape, this->layout().places, model.decoder.size(), model.shape.width, states),
          fed(tape, this->layout().places, model.shape.width, first) {}
  };

  RecurrentShape shape;
  Encoder encoder;                                   // source embeddings, and LSTMs over them
  WordEmbedding<Device, Shape.embedding> embedding;  // of target tokens
  Decoder decoder;
  Attention attention;                            // from decoder states to encoder states
  typename SourceAttention::Mix mix;              // W
  LexicalLayer<Device, Shape.embedding> lexical;  // used only if Prediction::uses_embeddings
  Output<Device, predicts_from> output;           // linear, softmax
  float dropout = 0;                              // of a

  explicit InputFeeding(const RecurrentOptions& options)
      : shape(resolve_shape(Shape, options.shape)),
        encoder(options.source_vocabulary, shape, options.dropout),
        embedding(options.target_vocabulary, shape.embedding, options.dropout.embedding),
        decoder(shape.embedding + shape.width, shape.width, shape.decoder_layers, options.dropout.states),
        attention(shape.width, shape.width),
        mix(shape.width + values(), shape.width),
        lexical(shape.embedding),
        output(options.target_vocabulary, shape.width + (Prediction::uses_embeddings ? shape.embedding : 0)),
        dropout(options.dropout.attention) {
    if constexpr (!SourceAttention::attends) require_equal_layers(shape, "InputFeeding without attention");
  }
  InputFeeding(const InputFeeding&) = delete;  // a copy would share its parameters with the original

  Variable<Device, predicts_from> hidden(Tape<Device>& tape, const Text& source, const Text& target) const {
    if constexpr (SourceAttention::folds) {
      if (std::ssize(decoder.others) >= InputFeedingArgs<Device>::kMostLayers) return hidden_by_steps(tape, source, target);
      const auto seen = attention.folded(begin(tape, source).seen);
      const auto embedded = embedding(tape, target);
      InputFeedingWeights<Device> weights{
          .layers = {}, .mix = mix.weight, .between_layers = decoder.dropout, .fed = dropout};
      weights.layers[0] = decoder.first;
      std::ranges::copy(decoder.others, weights.layers.begin() + 1);
      const auto layout = time_major(tape, target.rows, target.offsets);
      const auto [fed, context] = input_feeding<Device>(embedded, layout, seen, attention.score.scale, weights);
      sign_weights(tape, attention, true);
      Average average;
      if constexpr (Prediction::uses_embeddings) average = slice(context, values(), shape.embedding);
      return with_lexical(fed, average);
    } else {
      return hidden_by_steps(tape, source, target);
    }
  }

  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    return output.loss(hidden(tape, source, target), labels, options);
  }

  /// Starts decoding, as in Transformer.
  State start(Tape<Device>& tape, const Text& source, Index longest, Index hypotheses = 1) const {
    const auto [seen, before] = begin(tape, source);
    return State(*this, tape, source.rows, longest, hypotheses, seen, before.states, before.fed);
  }
  Variable<Device, predicts_from> read(Tape<Device>& tape, State& state, const std::vector<Token>& tokens) const {
    const Text text = state.advance(tape, tokens);
    const Index count = text.rows.count;
    state.seen.rows = state.source();
    const auto* places = state.read_places();
    const Step before{state.lstm.read(tape, places, count), state.fed.read(tape, places, count), {}};
    const Step now = step(embedding(tape, text), before, one_step(text.rows), state.seen);
    state.lstm.write(tape, now.states, state.places());
    state.fed.write(tape, now.fed, state.places());
    return with_lexical(now.fed, now.average);
  }

  void for_each_parameter(auto&& visit) {
    visit("encoder", encoder);
    visit("embedding", embedding);
    visit("decoder", decoder);
    visit("attention", attention);
    visit("mix", mix);
    if constexpr (Prediction::uses_embeddings) visit("lexical", lexical);
    visit("output", output);
  }

  /// hidden() step by step: used if one op cannot compute all steps, and to test that op.
  Variable<Device, predicts_from> hidden_by_steps(Tape<Device>& tape, const Text& source, const Text& target) const {
    auto [seen, now] = begin(tape, source);
    const auto embedded = embedding(tape, target);
    const TargetSteps<Device> steps(tape, target, source);
    X* fed = tape.device.tape_nodes.template array<X>(steps.size);
    Average* averages = tape.device.tape_nodes.template array<Average>(steps.size);
    if constexpr (SourceAttention::attends) {
      now.fed = tape.make_result(target.rows.count, shape.width, false);  // a constant
      tape.device.zero(now.fed.value);
    } else if (steps.size > 0) {
      const auto sorted = [&](X x) { return X(gather_rows(x, steps.order, steps.active(0))); };
      for (auto& state : now.states) state = {sorted(state.h), sorted(state.c)};
      now.fed = now.states.back().h;
    }
    const std::int32_t* rows = steps.rows;
    for (Index t = 0; t < steps.size; rows += steps.active(t++)) {
      now.fed = steps.survivors(now.fed, t);
      if (t > 0)
        for (auto& state : now.states) state = {steps.survivors(state.h, t), steps.survivors(state.c, t)};
      seen.rows = steps.source(t);
      const Ragged layout = steps.layout(t);
      now = step(gather_rows(embedded, rows, steps.active(t)), now, {layout, layout.begin}, seen);
      fed[t] = now.fed;
      averages[t] = now.average;
    }
    const X all = collect(tape, fed, steps, target.rows.rows, shape.width);
    Average average;
    if constexpr (Prediction::uses_embeddings) average = collect(tape, averages, steps, target.rows.rows, shape.embedding);
    return with_lexical(all, average);
  }

 private:
  using Average = Variable<Device, Prediction::uses_embeddings ? Shape.embedding : 0>;  // of source embeddings

  struct Step {
    typename Decoder::States states;
    X fed;            // a, after dropout
    Average average;  // empty unless Prediction::uses_embeddings
  };

  /// The keys and values of the source, and the input of the first step; empty values are 0.
  struct Beginning {
    SourceKeysValues seen;
    Step before;
  };

  Beginning begin(Tape<Device>& tape, const Text& source) const {
    const auto read = encoder(tape, source);
    if constexpr (SourceAttention::attends)
      return {averaged<Prediction>(attention.remember(read.states, source.rows), read.embedded), {}};
    else
      return {{{}, {}, source.rows}, {read.last, read.last.back().h, {}}};
  }
  /// Columns of the values that `mix` reads.
  Index values() const {
    if constexpr (SourceAttention::attends) return attention.values;
    return 0;
  }
  Step step(Variable<Device, Shape.embedding> embedded, const Step& before, const TimeMajor& layout,
            const SourceKeysValues& source) const {
    Step now;
    const auto [h, last] = decoder(concat(embedded, before.fed), layout, before.states);
    now.states = last;
    if constexpr (!SourceAttention::attends) {
      now.fed = attn::dropout(h, dropout);
    } else {
      const auto finish = [&, h = h](auto context) { now.fed = attn::dropout(tanh(mix(concat(h, context))), dropout); };
      const auto seen = attention(h, layout.rows, source);
      if constexpr (Prediction::uses_embeddings) {
        now.average = slice(seen, values(), shape.embedding);
        finish(slice(seen, 0, values()));
      } else {
        finish(seen);
      }
    }
    return now;
  }
  Variable<Device, predicts_from> with_lexical(X fed, Average average) const {
    if constexpr (Prediction::uses_embeddings)
      return concat(fed, lexical(average));
    else
      return fed;
  }
};

}  // namespace attn
