#pragma once
#include "attn/models/recurrent_models.hpp"
#include "attn/optim/adam.hpp"
#include "attn/seq2seq.hpp"
#include "training_workload.hpp"

// The recurrent models of the comparison with PyTorch, and their training batches.

/// A smaller version of Google's translation system (Wu et al. 2016) without input feeding and residual connections: a
/// bidirectional first encoder layer, three unidirectional ones, and a zero initial decoder state.
struct FirstLayerBothWays {
  template <class Device, attn::RecurrentShape Shape>
  struct Encoder {
    attn::WordEmbedding<Device, Shape.embedding> embedding;
    attn::BidirectionalLstm<Device, Shape.embedding, Shape.width> first;
    attn::LstmStack<Device, Shape.width, Shape.width, Shape.encoder_layers - 1> others;

    Encoder(attn::Index vocabulary, const attn::RecurrentShape&, const attn::RecurrentDropout& rates)
        : embedding(vocabulary, rates.embedding) {}

    attn::Encoded<Device, Shape> operator()(attn::Tape<Device>& tape, const attn::Text& text) const {
      const auto layout = time_major(tape, text.rows, text.offsets);
      const auto words = embedding(tape, text);
      return {words, others(first(words, layout).h, layout).h, {}};
    }

    void for_each_parameter(auto&& visit) {
      visit("embedding", embedding);
      visit("first", first);
      visit("others", others);
    }
  };
};

inline constexpr attn::RecurrentShape wide_shape{.embedding = 512, .width = 512, .encoder_layers = 2, .decoder_layers = 2};
inline constexpr attn::RecurrentShape large_shape{
    .embedding = 1024, .width = 1024, .encoder_layers = 4, .decoder_layers = 4};

template <class Device>
using WideInputFeeding = attn::InputFeeding<Device, wide_shape>;
template <class Device>
using LargeSeq2Seq = attn::Seq2Seq<Device, large_shape, FirstLayerBothWays, attn::OnEncoder<attn::Multiplicative>>;

struct RecurrentWork {
  const char* name;
  attn::Index sentences, length;  // source and target are equally long
  attn::RecurrentOptions options;
};

/// Calls measure.template operator()<Model>(work) for each model.
template <class Device, class Measure>
void for_each_recurrent(const Measure& measure) {
  using namespace attn;
  const auto comparison = [&]<class Model>(const char* name) {
    measure.template operator()<Model>(RecurrentWork{name, 300, 20, {14546, 22892, {}}});
  };
  comparison.template operator()<ComparisonModel<Device, OnEncoder<Additive<64>>>>("comparison additive encoder");
  comparison.template operator()<ComparisonModel<Device, OnEncoderAndPast<Additive<64>>>>("comparison additive both");
  comparison.template operator()<ComparisonModel<Device, OnEncoder<Multiplicative>>>("comparison multiplicative encoder");
  comparison.template operator()<ComparisonModel<Device, OnEncoderAndPast<Multiplicative>>>(
      "comparison multiplicative both");
  comparison.template operator()<ComparisonModel<Device, OnEncoder<ScaledDot>>>("comparison dot encoder");
  comparison.template operator()<ComparisonModel<Device, OnEncoderAndPast<ScaledDot>>>("comparison dot both");
  const auto coursework = [&]<class Model>(const char* name) {
    measure.template operator()<Model>(RecurrentWork{name, 10, 13, {5048, 4420, coursework_dropout}});
  };
  coursework.template operator()<CourseworkModel<Device>>("coursework baseline");
  coursework.template operator()<LexicalCourseworkModel<Device>>("coursework lexical");
  coursework.template operator()<DeeperCourseworkModel<Device>>("coursework deeper");
  measure.template operator()<WideInputFeeding<Device>>(
      RecurrentWork{"input feeding", 128, 30, {32000, 32000, coursework_dropout}});
  measure.template operator()<LargeSeq2Seq<Device>>(RecurrentWork{"large", 128, 50, {32000, 32000, {}}});
}

inline std::vector<attn::Batch> recurrent_batch(const RecurrentWork& work) {
  attn::Random random(1);
  const auto equal = [&](attn::Index length) {
    return std::vector<attn::Index>(static_cast<std::size_t>(work.sentences), length);
  };
  return {training_batch(equal(work.length), equal(work.length + 1), work.options.source_vocabulary,
                         work.options.target_vocabulary, random)};
}

/// Multiplications and additions of a training step's matrix products outside attention. Source and target have the same
/// number of rows, so each weight has three products with them: forward, weight gradient and input gradient. Counts the few
/// weights that only apply to last states as if they applied to all rows. Omits attention, some tenths of a per cent.
template <class Device>
double recurrent_flop(const attn::Parameters<Device>& parameters, const RecurrentWork& work) {
  double weights = 0;
  for (const auto& entry : parameters.entries()) {
    const auto has = [&](const char* word) { return entry.name.find(word) != std::string::npos; };
    if (entry.cols > 1 && !has("embedding") && !has("initial")) weights += static_cast<double>(entry.size());
  }
  return 6 * weights * static_cast<double>(work.sentences * work.length);
}
