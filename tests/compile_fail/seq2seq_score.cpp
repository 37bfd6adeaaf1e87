// refused: static assertion failed: attn: Seq2Seq: what the decoder attends to is NoAttention.*OnEncoder<Dot>
#include "recurrent_device.hpp"

constexpr attn::RecurrentShape shape{.words = 8, .width = 8, .encoder_layers = 1, .decoder_layers = 1};

#ifdef ATTN_REFUSED
using Attends = attn::Dot;
#else
using Attends = attn::OnEncoder<attn::Dot>;
#endif

attn::Seq2Seq<Device, shape, attn::BothWays, Attends> model({.source_vocabulary = 8, .target_vocabulary = 8});
