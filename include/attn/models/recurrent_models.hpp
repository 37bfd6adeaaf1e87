#pragma once
#include "attn/models/input_feeding.hpp"

// Recurrent models of papers. run/recurrent_models.hpp registers them.

namespace attn {

// ---- Chittersu: attention mechanisms. Europarl, English to German; no dropout ----

inline constexpr RecurrentShape comparison_shape{.embedding = 128, .width = 64, .encoder_layers = 2, .decoder_layers = 2};

/// A two-layer bidirectional LSTM encoder and a two-layer LSTM decoder. `Attends` selects the attention: over what, with
/// which score.
template <class Device, class Attends = NoAttention>
using ComparisonModel = Seq2Seq<Device, comparison_shape, BothWaysProjected, Attends>;

using Keys48Values16 = KeyValue<48, 16>;

// ---- The Edinburgh coursework: Luong's attention with input feeding. Europarl, German to English ----

inline constexpr RecurrentShape coursework_shape{.embedding = 64, .width = 128, .encoder_layers = 1, .decoder_layers = 1};
inline constexpr RecurrentShape deeper_coursework_shape{
    .embedding = 64, .width = 128, .encoder_layers = 2, .decoder_layers = 3};
inline constexpr RecurrentDropout coursework_dropout{.embedding = 0.25f, .states = 0.25f, .attention = 0.25f};

template <class Device>
using CourseworkModel = InputFeeding<Device, coursework_shape, BothWays, Multiplicative>;
template <class Device>
using DeeperCourseworkModel = InputFeeding<Device, deeper_coursework_shape, BothWays, Multiplicative>;
template <class Device>
using PlainCourseworkModel = InputFeeding<Device, coursework_shape, BothWays, NoAttention>;
template <class Device>
using LexicalCourseworkModel = InputFeeding<Device, coursework_shape, BothWays, Multiplicative, SharedKeyValue, Lexical>;

}  // namespace attn
