// refused: static assertion failed.*the lexical model averages source words by attention. Choose a score
#include "recurrent_device.hpp"

constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 1, .decoder_layers = 1};

#ifdef ATTN_REFUSED
using Score = attn::NoAttention;
#else
using Score = attn::DotProduct;
#endif

attn::InputFeeding<Device, shape, attn::OneWay, Score, attn::SharedKeyValue, attn::Lexical> model({.source_vocabulary = 8,
                                                                                                   .target_vocabulary = 8});
