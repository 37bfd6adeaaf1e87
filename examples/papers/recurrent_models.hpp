#pragma once
#include "attn/models/input_feeding.hpp"
#include "attn/models/seq2seq.hpp"

// The recurrent models that papers compare, one word apart each.

namespace papers {

using namespace attn;

// ---- Chittersu: which attention, and where. Europarl, English to German; no dropout ----

inline constexpr RecurrentShape comparison_shape{.words = 128, .width = 64, .encoder_layers = 2, .decoder_layers = 2};

/// Two LSTM layers that read both ways, two that write; Attends says what the writer looks at and how it scores.
template <class Device, class Attends = NoAttention>
using ComparisonModel = Seq2Seq<Device, comparison_shape, BothWaysProjected, Attends>;

using Keys48Values16 = KeyValue<48, 16>;

template <class Device>
using PlainSeq2Seq = ComparisonModel<Device>;

template <class Device>
using AdditiveOnEncoder = ComparisonModel<Device, OnEncoder<Additive<64>>>;
template <class Device>
using AdditiveOnEncoderAndPast = ComparisonModel<Device, OnEncoderAndPast<Additive<64>>>;
template <class Device>
using AdditiveOnSelfAttention = ComparisonModel<Device, OnSelfAttention<2, Additive<64>>>;

template <class Device>
using MultiplicativeOnEncoder = ComparisonModel<Device, OnEncoder<Multiplicative>>;
template <class Device>
using MultiplicativeOnEncoderAndPast = ComparisonModel<Device, OnEncoderAndPast<Multiplicative>>;
template <class Device>
using MultiplicativeOnSelfAttention = ComparisonModel<Device, OnSelfAttention<2, Multiplicative>>;

template <class Device>
using ScaledDotOnEncoder = ComparisonModel<Device, OnEncoder<ScaledDot>>;
template <class Device>
using ScaledDotOnEncoderAndPast = ComparisonModel<Device, OnEncoderAndPast<ScaledDot>>;
template <class Device>
using ScaledDotOnSelfAttention = ComparisonModel<Device, OnSelfAttention<2, ScaledDot>>;

// Keys and values are scored by the additive network, half as wide as a state and a key together.
template <class Device>
using KeyValueOnEncoder = ComparisonModel<Device, OnEncoder<Additive<56>, Keys48Values16>>;
template <class Device>
using KeyValueOnEncoderAndPast = ComparisonModel<Device, OnEncoderAndPast<Additive<56>, Keys48Values16>>;
template <class Device>
using KeyValueOnSelfAttention = ComparisonModel<Device, OnSelfAttention<2, Additive<56>, Keys48Values16>>;

// ---- The Edinburgh coursework: Luong's attention with input feeding. Europarl, German to English ----

inline constexpr RecurrentShape coursework_shape{.words = 64, .width = 128, .encoder_layers = 1, .decoder_layers = 1};
inline constexpr RecurrentShape deeper_coursework_shape{
    .words = 64, .width = 128, .encoder_layers = 2, .decoder_layers = 3};
inline constexpr RecurrentDropout coursework_dropout{.words = 0.25f, .states = 0.25f, .attention = 0.25f};

template <class Device>
using CourseworkModel = InputFeeding<Device, coursework_shape, BothWays, Multiplicative>;
template <class Device>
using DeeperCourseworkModel = InputFeeding<Device, deeper_coursework_shape, BothWays, Multiplicative>;
template <class Device>
using PlainCourseworkModel = InputFeeding<Device, coursework_shape, BothWays, NoAttention>;
template <class Device>
using LexicalCourseworkModel = InputFeeding<Device, coursework_shape, BothWays, Multiplicative, States, Lexical>;

}  // namespace papers
