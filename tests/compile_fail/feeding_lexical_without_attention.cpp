// refused: static assertion failed.*the lexical model averages the source's words by attention; choose a score
#include "recurrent_device.hpp"

constexpr attn::RecurrentShape shape{.words = 8, .width = 8, .encoder_layers = 1, .decoder_layers = 1};

#ifdef ATTN_REFUSED
using Score = attn::NoAttention;
#else
using Score = attn::Dot;
#endif

attn::InputFeeding<Device, shape, attn::OneWay, Score, attn::States, attn::Lexical> model({.source_vocabulary = 8,
                                                                                           .target_vocabulary = 8});
