// refused: static assertion failed: attn: Seq2Seq: the decoder's attention is NoAttention.*OnEncoder<DotProduct>
#include "recurrent_device.hpp"

constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 1, .decoder_layers = 1};

#ifdef ATTN_REFUSED
using Attends = attn::DotProduct;
#else
using Attends = attn::OnEncoder<attn::DotProduct>;
#endif

attn::Seq2Seq<Device, shape, attn::BothWays, Attends> model({.source_vocabulary = 8, .target_vocabulary = 8});
