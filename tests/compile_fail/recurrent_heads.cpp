// refused: static assertion failed.*MultiHead: width must be a multiple of heads
#include "recurrent_device.hpp"

constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 1, .decoder_layers = 1};

#ifdef ATTN_REFUSED
using Attends = attn::OnSelfAttention<3, attn::DotProduct>;
#else
using Attends = attn::OnSelfAttention<2, attn::DotProduct>;
#endif

attn::Seq2Seq<Device, shape, attn::OneWay, Attends> model({.source_vocabulary = 8, .target_vocabulary = 8});
