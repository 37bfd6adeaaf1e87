// refused: static assertion failed.*without attention the decoder's layers start with the states of the encoder's
#include "recurrent_device.hpp"

#ifdef ATTN_REFUSED
constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 1, .decoder_layers = 2};
#else
constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 2, .decoder_layers = 2};
#endif

attn::InputFeeding<Device, shape, attn::OneWay, attn::NoAttention> model({.source_vocabulary = 8, .target_vocabulary = 8});
