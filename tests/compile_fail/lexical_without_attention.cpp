// refused: static assertion failed.*the lexical model averages source words by attention
#include "recurrent_device.hpp"

constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 1, .decoder_layers = 1};

#ifdef ATTN_REFUSED
using Attends = attn::NoAttention;
#else
using Attends = attn::OnEncoder<attn::DotProduct>;
#endif

attn::Seq2Seq<Device, shape, attn::OneWay, Attends, attn::Lexical> model({.source_vocabulary = 8, .target_vocabulary = 8});
