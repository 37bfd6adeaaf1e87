#pragma once
#include "attn/models/transformer.hpp"

namespace attn {

/// The Transformer of Marian and of OPUS-MT's models: Swish or ReLU, and positions with all sines before all cosines.
/// Junczys-Dowmunt et al. 2018. Hugging Face's MarianMTModel.
template <class Device, TransformerShape Shape = dynamic_shape, class Activation = Swish>
using Marian = Transformer<Device, Shape, Full<>, PostNorm, Activation, SinusoidalHalves>;

inline constexpr TransformerShape student_shape{
    .encoder_layers = 6, .decoder_layers = 2, .width = 256, .heads = 8, .inner = 1536};

}  // namespace attn
