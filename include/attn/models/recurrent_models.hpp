#pragma once
#include "attn/models/input_feeding.hpp"

// Recurrent models of papers. run/recurrent_models.hpp registers them.

namespace attn {

// ---- Chittersu: attention mechanisms. Europarl, English to German; no dropout ----

/// A two-layer bidirectional LSTM encoder and a two-layer LSTM decoder. `Attends` selects the attention: over what, with
/// which score.
template <class Device, class Attends = NoAttention, RecurrentShape Shape = comparison_shape>
using ComparisonModel = Seq2Seq<Device, Shape, BothWaysProjected, Attends>;

using Keys48Values16 = KeyValue<48, 16>;

// ---- The Edinburgh coursework: Luong's attention with input feeding. Europarl, German to English ----

inline constexpr RecurrentDropout coursework_dropout{.embedding = 0.25f, .states = 0.25f, .attention = 0.25f};

template <class Device, RecurrentShape Shape = coursework_shape>
using CourseworkModel = InputFeeding<Device, Shape, BothWays, Multiplicative>;
template <class Device>
using DeeperCourseworkModel = CourseworkModel<Device, deeper_coursework_shape>;
template <class Device, RecurrentShape Shape = coursework_shape>
using PlainCourseworkModel = InputFeeding<Device, Shape, BothWays, NoAttention>;
template <class Device, RecurrentShape Shape = coursework_shape>
using LexicalCourseworkModel = InputFeeding<Device, Shape, BothWays, Multiplicative, SharedKeyValue, Lexical>;

}  // namespace attn
