#pragma once
#include "attn/models/transformer.hpp"

namespace attn {

/// The Transformer as Marian trains it, and as OPUS-MT's models are: Swish or ReLU, and positions whose sines all come before
/// their cosines. Junczys-Dowmunt et al. 2018. Hugging Face's MarianMTModel.
template <class Device, TransformerShape Shape = dynamic_shape, class Activation = Swish>
using Marian = Transformer<Device, Shape, Full<>, PostNorm, Activation, SinusoidalHalves>;

/// A student's: two decoder layers write after six encoder layers have read.
inline constexpr TransformerShape student_shape{
    .encoder_layers = 6, .decoder_layers = 2, .width = 256, .heads = 8, .inner = 1536};

}  // namespace attn
